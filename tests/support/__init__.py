# SPDX-License-Identifier: Apache-2.0
"""Builders, stand-ins and small programs that several tests share."""
