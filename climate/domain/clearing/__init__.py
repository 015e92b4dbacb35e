# SPDX-License-Identifier: Apache-2.0
"""The decisions of host clearing, without I/O: the hosts, the plan, the next steps."""
