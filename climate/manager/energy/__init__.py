# SPDX-License-Identifier: Apache-2.0
"""Energy saving: free resources sleep, and wake up before a lease needs them."""
