# SPDX-License-Identifier: Apache-2.0
"""The plugin virtual:dummy: a resource type without resources, for trying out leases."""
from climate.plugins import base


class DummyPlugin(base.ResourcePlugin):
    resource_type = 'virtual:dummy'
    schema = {'type': 'object', 'properties': {}, 'additionalProperties': False}
    example = {}
    transferable = True

    def needs(self, request):
        return []

    def start(self, cloud, lease, reservation, resources):
        return {}

    def end(self, cloud, lease, reservation, resources):
        """Do nothing, because `start` made nothing."""
