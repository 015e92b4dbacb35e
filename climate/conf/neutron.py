# SPDX-License-Identifier: Apache-2.0
"""[neutron]: the connection to Neutron, which has the networks and the floating IPs."""
from climate.conf import client

CLIENT = client.Client('neutron', 'Neutron', 'network')

register = CLIENT.register
list_opts = CLIENT.list_opts
