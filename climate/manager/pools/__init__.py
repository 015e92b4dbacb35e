# SPDX-License-Identifier: Apache-2.0
"""The resources of the pools: enrol, look up, describe, withdraw, refresh."""
