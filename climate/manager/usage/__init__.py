# SPDX-License-Identifier: Apache-2.0
"""Usage and utilisation: who had what, and how full the pools were and will be."""
