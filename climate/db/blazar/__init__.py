# SPDX-License-Identifier: Apache-2.0
"""The move from Blazar: its database is read, converted, and written as Climate's own rows."""
