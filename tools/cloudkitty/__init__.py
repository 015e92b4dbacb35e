# SPDX-License-Identifier: Apache-2.0
"""A real CloudKitty and a real Prometheus on loopback, to compare its sums with Climate's."""
