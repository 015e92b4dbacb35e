# SPDX-License-Identifier: Apache-2.0
"""Leases of what Neutron has: floating IPs, and networks on segments of their own."""
