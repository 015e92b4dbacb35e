# SPDX-License-Identifier: Apache-2.0
"""Sources of the health of resources, beside the cloud itself."""
