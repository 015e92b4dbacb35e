# SPDX-License-Identifier: Apache-2.0
"""The events of leases: claim due events, carry them out, and record their outcomes."""
