# SPDX-License-Identifier: Apache-2.0
"""The strategies that choose which hosts are cleared for a best-effort lease, one in each file."""
