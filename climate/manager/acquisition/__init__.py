# SPDX-License-Identifier: Apache-2.0
"""The acquisition of resources that are not free at once: attempts, hold-back, giving up."""
