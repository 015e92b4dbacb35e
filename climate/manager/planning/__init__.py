# SPDX-License-Identifier: Apache-2.0
"""Planning: what if hosts came or went, or demand grew; the forecast of the use of a pool."""
