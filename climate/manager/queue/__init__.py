# SPDX-License-Identifier: Apache-2.0
"""The wait queue: its order, and which request is woken when resources are released."""
