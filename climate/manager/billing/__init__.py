# SPDX-License-Identifier: Apache-2.0
"""Billing: the price book, the prices of leases, and the statements of projects."""
