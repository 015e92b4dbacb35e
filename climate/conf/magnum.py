# SPDX-License-Identifier: Apache-2.0
"""[magnum]: the connection to Magnum, which makes clusters."""
from climate.conf import client

CLIENT = client.Client('magnum', 'Magnum', 'container-infra')

register = CLIENT.register
list_opts = CLIENT.list_opts
