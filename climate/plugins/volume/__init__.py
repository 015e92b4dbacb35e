# SPDX-License-Identifier: Apache-2.0
"""virtual:volume: room on storage back ends, or an existing volume, for the span of a lease."""
