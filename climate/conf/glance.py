# SPDX-License-Identifier: Apache-2.0
"""[glance]: the connection to Glance, which stores the images of servers."""
from climate.conf import client

CLIENT = client.Client('glance', 'Glance', 'image')

register = CLIENT.register
list_opts = CLIENT.list_opts
