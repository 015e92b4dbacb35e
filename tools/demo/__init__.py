# SPDX-License-Identifier: Apache-2.0
"""Whole leases, played in front of the reader: python3 -m tools.demo."""
