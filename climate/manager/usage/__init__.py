# SPDX-License-Identifier: Apache-2.0
"""Reports of the usage by projects and of the utilisation of pools."""
