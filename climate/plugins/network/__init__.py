# SPDX-License-Identifier: Apache-2.0
"""The resource types of Neutron: floating IPs, and networks on leased segments."""
