# SPDX-License-Identifier: Apache-2.0
"""virtual:volume: capacity of storage back ends, or an existing volume, for the time of a lease."""
