# SPDX-License-Identifier: Apache-2.0
"""Notifications: written to the outbox with each change, sent to the bus after it."""
