# SPDX-License-Identifier: Apache-2.0
"""Sources of the health of resources, in addition to the cloud itself."""
