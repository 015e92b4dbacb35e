# SPDX-License-Identifier: Apache-2.0
"""The use of running leases, sampled; idle leases, marked and reclaimed."""
