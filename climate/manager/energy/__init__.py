# SPDX-License-Identifier: Apache-2.0
"""Saving energy: free resources sleep, and wake up before a lease needs them."""
