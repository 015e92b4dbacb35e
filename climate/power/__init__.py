# SPDX-License-Identifier: Apache-2.0
"""Power drivers: they switch resources on and off, such as by the BMC of a host."""
