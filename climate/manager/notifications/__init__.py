# SPDX-License-Identifier: Apache-2.0
"""Notifications: each change writes them to the outbox; tasks deliver them."""
