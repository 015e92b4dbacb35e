# SPDX-License-Identifier: Apache-2.0
"""The health of resources: its sources, its changes, and the blocks that follow from it."""
