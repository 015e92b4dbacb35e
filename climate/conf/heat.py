# SPDX-License-Identifier: Apache-2.0
"""[heat]: the connection to Heat, which makes the stacks of leases."""
from climate.conf import client

CLIENT = client.Client('heat', 'Heat', 'orchestration')

register = CLIENT.register
list_opts = CLIENT.list_opts
