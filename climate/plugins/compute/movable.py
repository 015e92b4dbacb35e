# SPDX-License-Identifier: Apache-2.0
"""Rules by which a server may be moved for a lease, and the resources that its new host needs."""
import re

from climate.domain import cloud_objects
from climate.domain.clearing import steps
from climate.plugins.compute.servers import nova_server

#: The metadata key with which a user keeps a server on its host.
PINNED_KEY = 'climate:pinned'
_NOT_PINNED = ('false', 'no', '0')
_RESOURCES = 'resources:'
_TRAIT = 'trait:'
# The prefixes of extra specs that give the server a device of its host.
_OF_THE_HOST = ('pci_passthrough:', 'accel:', 'resources:VGPU', 'resources:PGPU')
_NUMBERED = re.compile(r'(resources|trait)[0-9_]')
_AFFINITY = 'affinity'


class MoveRules:
    """Decides which servers may be moved.

    :param project_id: the project of the lease; only servers of other projects are moved for it.
    :param move_stopped: whether a stopped server may be moved.
    :param leased: the ids of servers that Climate leases.
    :param groups: the ServerGroups of the cloud.
    """

    def __init__(self, project_id, move_stopped, leased, groups):
        self._project_id = project_id
        self._move_stopped = move_stopped
        self._leased = leased
        self._with_affinity = frozenset(
            member for group in groups if group.policy == _AFFINITY for member in group.members)

    def refusal(self, server, busy=False):
        """Return why a server must stay, in words; None if it may be moved.

        :param busy: True if the server's present status does not count, because Climate waits for
            the end of its present change.
        """
        reason = self._reason(server) or (None if busy else self._reason_now(server))
        return None if reason is None else f'server {server.id} {reason}'

    def _reason(self, server):
        if server.metadata.get(PINNED_KEY, 'no').strip().lower() not in _NOT_PINNED:
            return f'is marked {PINNED_KEY}'
        if server.project_id == self._project_id:
            return 'is of the same project'
        if server.id in self._leased or nova_server.LEASE_KEY in server.metadata:
            return 'is leased'
        if server.id in self._with_affinity:
            return 'is in a group with affinity'
        if server.flavor is None:
            return 'has a flavor that Nova does not show'
        for key in server.flavor.extra_specs:
            if key.startswith(_OF_THE_HOST) or _NUMBERED.match(key):
                return f'has a part of its host ({key})'
        return None

    def _reason_now(self, server):
        if server.status not in steps.MOVABLE:
            return f'is {server.status}'
        if server.status == steps.STOPPED and not self._move_stopped:
            return 'is stopped, and [acquire] move_stopped is off'
        if server.task is not None:
            return f'is being changed ({server.task})'
        return None


def shape_of(server, held):
    """Return the Shape of a server.

    :param held: {resource class: units} that the server uses of the hypervisor's own inventory.
    """
    specs = server.flavor.extra_specs
    requested = {key.removeprefix(_RESOURCES): int(text) for key, text in specs.items()
                 if key.startswith(_RESOURCES) and text.isdecimal() and int(text)}
    traits = frozenset(key.removeprefix(_TRAIT) for key, text in specs.items()
                       if key.startswith(_TRAIT) and text == 'required')
    return cloud_objects.Shape(tuple(sorted({**requested, **held}.items())), traits)
