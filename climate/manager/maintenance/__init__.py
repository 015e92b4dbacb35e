# SPDX-License-Identifier: Apache-2.0
"""Maintenance windows: leases move off the resources, and the cloud starts nothing on them."""
