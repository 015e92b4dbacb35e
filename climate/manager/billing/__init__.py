# SPDX-License-Identifier: Apache-2.0
"""The price book, the prices of leases, and statements of what they cost."""
