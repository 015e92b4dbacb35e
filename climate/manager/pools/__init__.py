# SPDX-License-Identifier: Apache-2.0
"""The use cases of the resources of pools: enrol, find, change, withdraw, refresh."""
