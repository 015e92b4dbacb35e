# SPDX-License-Identifier: Apache-2.0
"""The code that CloudKitty's own interpreter runs."""
