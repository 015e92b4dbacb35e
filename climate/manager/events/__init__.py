# SPDX-License-Identifier: Apache-2.0
"""Events: claim those that are due, carry them out, record how each went."""
