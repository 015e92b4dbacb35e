# SPDX-License-Identifier: Apache-2.0
"""Limits: the limit book, and the checks of the use of projects and users."""
