# SPDX-License-Identifier: Apache-2.0
"""Leased servers, the form of virtual:instance that leases one server."""
