# SPDX-License-Identifier: Apache-2.0
"""virtual:cluster: clusters of Magnum, and further nodes of a cluster."""
