# SPDX-License-Identifier: Apache-2.0
"""Climate, the reservation service for OpenStack."""
