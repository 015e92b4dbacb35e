# SPDX-License-Identifier: Apache-2.0
"""The resource types of Nova: hosts, instance capacity, leased servers."""
