# SPDX-License-Identifier: Apache-2.0
"""How a lease gets what is not free at once: in tries, in line, or by a hunt."""
