# SPDX-License-Identifier: Apache-2.0
"""Host clearing for best effort: survey the hosts, plan, execute, store the plan."""
