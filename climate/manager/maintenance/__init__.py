# SPDX-License-Identifier: Apache-2.0
"""Maintenance: leases make way for it, and the cloud starts nothing on its resources meanwhile."""
