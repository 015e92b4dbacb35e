# SPDX-License-Identifier: Apache-2.0
"""The use cases of leases: create, read, change, end, delete; their trusts and targets."""
