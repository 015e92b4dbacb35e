# SPDX-License-Identifier: Apache-2.0
"""Limits: the limit book, the measures of use, and the rules of extensions."""
