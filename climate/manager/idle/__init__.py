# SPDX-License-Identifier: Apache-2.0
"""Sample the use of running leases, mark idle leases, and reclaim them."""
