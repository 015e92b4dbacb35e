# SPDX-License-Identifier: Apache-2.0
"""The wait queue: which lease is woken when resources are released."""
