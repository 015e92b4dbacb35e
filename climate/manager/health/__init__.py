# SPDX-License-Identifier: Apache-2.0
"""The health of resources: checks, health states, quarantines and blocks."""
