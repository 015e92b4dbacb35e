# SPDX-License-Identifier: Apache-2.0
"""Samples of how much of leases is used, and the leases that are idle."""
