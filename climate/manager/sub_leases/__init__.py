# SPDX-License-Identifier: Apache-2.0
"""Sub-leases: choose hosts of a lease, and divide their allocations between both leases."""
