# SPDX-License-Identifier: Apache-2.0
"""Whether a server may be moved away for a lease of somebody else, and what it needs elsewhere."""
import re

from climate.cloud import models
from climate.domain import chase
from climate.plugins.servers import leased as leasing

#: By this key in its metadata a user says that a server is to stay where it is.
PINNED_KEY = 'climate:pinned'
_NOT_PINNED = ('false', 'no', '0')
_RESOURCES = 'resources:'
_TRAIT = 'trait:'
# What is named so is a part of the host that the server has for itself.
_OF_THE_HOST = ('pci_passthrough:', 'accel:', 'resources:VGPU', 'resources:PGPU')
_NUMBERED = re.compile(r'(resources|trait)[0-9_]')
_AFFINITY = 'affinity'


class Rules:
    """Judges servers.

    :param project_id: whose lease it is: only servers of others are moved for it.
    :param move_stopped: whether a stopped server may be moved.
    :param leased: the ids of servers that Climate leases.
    :param groups: the ServerGroups of the cloud.
    """

    def __init__(self, project_id, move_stopped, leased, groups):
        self._project_id = project_id
        self._move_stopped = move_stopped
        self._leased = leased
        self._near = frozenset(member for group in groups if group.policy == _AFFINITY
                               for member in group.members)

    def refusal(self, server, busy=False):
        """Why a server must stay, in words; None where it may be moved.

        :param busy: something is done to it, and that is waited for.
        """
        reason = self._reason(server) or (None if busy else self._reason_now(server))
        return None if reason is None else f'server {server.id} {reason}'

    def _reason(self, server):
        if server.metadata.get(PINNED_KEY, 'no').strip().lower() not in _NOT_PINNED:
            return f'is marked {PINNED_KEY}'
        if server.project_id == self._project_id:
            return 'is of the same project'
        if server.id in self._leased or leasing.LEASE_KEY in server.metadata:
            return 'is leased'
        if server.id in self._near:
            return 'is in a group with affinity'
        if server.flavor is None:
            return 'has a flavor that Nova does not tell'
        for key in server.flavor.extra_specs:
            if key.startswith(_OF_THE_HOST) or _NUMBERED.match(key):
                return f'has a part of its host ({key})'
        return None

    def _reason_now(self, server):
        if server.status not in chase.MOVABLE:
            return f'is {server.status}'
        if server.status == chase.STOPPED and not self._move_stopped:
            return 'is stopped, and [acquire] move_stopped is off'
        if server.task is not None:
            return f'is being changed ({server.task})'
        return None


def shape_of(server, held):
    """The Shape of a server.

    :param held: {resource class: units} that it holds of the hypervisor's own inventory.
    """
    specs = server.flavor.extra_specs
    more = {key.removeprefix(_RESOURCES): int(text) for key, text in specs.items()
            if key.startswith(_RESOURCES) and text.isdecimal() and int(text)}
    traits = frozenset(key.removeprefix(_TRAIT) for key, text in specs.items()
                       if key.startswith(_TRAIT) and text == 'required')
    return models.Shape(tuple(sorted({**more, **held}.items())), traits)
