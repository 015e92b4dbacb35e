# SPDX-License-Identifier: Apache-2.0
"""A real OpenStack on this machine, on loopback only, for trying Climate out and for its tests."""
