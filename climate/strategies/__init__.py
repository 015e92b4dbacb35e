# SPDX-License-Identifier: Apache-2.0
"""Which hosts are cleared first for a best-effort lease: one strategy a file."""
