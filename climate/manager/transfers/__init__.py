# SPDX-License-Identifier: Apache-2.0
"""Transfers of leases to other projects: offer them, and accept or decline offers."""
