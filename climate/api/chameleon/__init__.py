# SPDX-License-Identifier: Apache-2.0
"""The paths that clients of Chameleon's fork of Blazar use, as views over what Climate has."""
