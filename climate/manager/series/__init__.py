# SPDX-License-Identifier: Apache-2.0
"""Series: leases that repeat."""
