# SPDX-License-Identifier: Apache-2.0
"""The health of resources: the one place that knows which of them work."""
