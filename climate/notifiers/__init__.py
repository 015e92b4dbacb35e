# SPDX-License-Identifier: Apache-2.0
"""The transports by which subscriptions are told: mail and webhook, found by their names."""
