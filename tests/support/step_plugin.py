# SPDX-License-Identifier: Apache-2.0
"""A resource type for tests that writes down when it is called, and fails where a test says so."""
from climate.domain import records
from climate.plugins import base


class StepPlugin(base.ResourcePlugin):
    """Something that needs no resources.

    :ivar calls: (method, label) in the order of the calls.
    :ivar troubles: {(method, label): an error that is raised there}.
    :ivar made: {label: how often it was made anew in the cloud}.
    """

    resource_type = 'test:step'
    schema = {
        'type': 'object',
        'properties': {'size': {'type': 'integer'}, 'prepares': {'type': 'boolean'}},
        'additionalProperties': False,
    }
    example = {'size': 1}

    def __init__(self, conf):
        super().__init__(conf)
        self.calls = []
        self.troubles = {}
        self.made = {}

    def needs(self, request):
        return []

    def prepares(self, request):
        return request.get('prepares', False)

    def prepare(self, cloud, lease, reservation, resources):
        self._note('prepare', reservation)
        return {'prepared': True}

    def start(self, cloud, lease, reservation, resources):
        before = lease.dependencies(reservation)
        self._note('start', reservation)
        number = self.made.setdefault(reservation.label, len(self.made) + 1)
        # Half of it is done when a manager may be killed.
        self._fail('started', reservation)
        return {'number': number, 'size': reservation.request.get('size'),
                'saw': {label: [each.state, each.binding.get('number'), each.binding.get('size')]
                        for label, each in before.items()}}

    def before_end(self, cloud, lease, reservation, resources):
        self._note('before_end', reservation)

    def end(self, cloud, lease, reservation, resources):
        self._note('end', reservation)
        self.made.pop(reservation.label, None)

    def _note(self, method, reservation):
        self.calls.append((method, reservation.label))
        self._fail(method, reservation)

    def _fail(self, method, reservation):
        if (method, reservation.label) in self.troubles:
            raise self.troubles[method, reservation.label]


def step(label=None, *depends_on, **request):
    """A ReservationRequest."""
    return records.ReservationRequest('test:step', request, label=label, depends_on=depends_on)
