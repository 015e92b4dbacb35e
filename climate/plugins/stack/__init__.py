# SPDX-License-Identifier: Apache-2.0
"""virtual:stack: stacks of Heat."""
