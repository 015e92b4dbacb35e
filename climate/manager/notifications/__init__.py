# SPDX-License-Identifier: Apache-2.0
"""Notifications: written with each change, then sent to the bus and to subscriptions."""
