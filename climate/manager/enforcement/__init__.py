# SPDX-License-Identifier: Apache-2.0
"""Questions to the enforcement service, before leases are written, and reports after it."""
