# SPDX-License-Identifier: Apache-2.0
"""The import from Blazar: read its database, convert the rows, and write them to Climate's."""
