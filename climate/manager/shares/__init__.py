# SPDX-License-Identifier: Apache-2.0
"""Shares of leases: grant, withdraw and leave them, and apply them to running reservations."""
