# SPDX-License-Identifier: Apache-2.0
"""[cinder]: the connection to Cinder, which holds the volumes."""
from climate.conf import client

CLIENT = client.Client('cinder', 'Cinder', 'block-storage')

register = CLIENT.register
list_opts = CLIENT.list_opts
