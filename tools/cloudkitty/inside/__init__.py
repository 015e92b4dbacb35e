# SPDX-License-Identifier: Apache-2.0
"""What CloudKitty's own interpreter runs."""
