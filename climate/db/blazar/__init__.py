# SPDX-License-Identifier: Apache-2.0
"""Move from Blazar: read its database, convert its rows to Climate's, and write leases back."""
