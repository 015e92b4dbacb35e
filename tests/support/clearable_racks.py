# SPDX-License-Identifier: Apache-2.0
"""A pool for tests whose racks can be cleared, in a cloud of its own without Nova and Placement."""
import collections
import dataclasses

from climate.domain import requirement
from climate.domain import selection
from climate.domain.clearing import choice
from climate.domain.clearing import steps
from climate.plugins import base
from climate.plugins import clearable

SLOTS = 'SLOTS'


@dataclasses.dataclass
class Rack:
    """A rack with two slots for jobs."""

    lent: bool = False
    enabled: bool = True
    up: bool = True
    reason: str | None = None
    answers: bool = True
    admitted: bool = False


@dataclasses.dataclass
class Job:
    """A job in a slot of a rack."""

    id: str
    host: str
    project_id: str = 'other'
    status: str = steps.MOVABLE[0]
    task: str | None = None


@dataclasses.dataclass
class Migration:
    """A migration of a job, which is over at once."""

    id: int
    kind: str = 'live-migration'
    failed: bool = False


class RackPool(base.Pool, clearable.Clearable):
    """Racks. Nothing but the contract leads from the manager to its cloud.

    :ivar racks: {name: Rack}.
    :ivar jobs: {id: Job}.
    :ivar done: the changes, in order, as tuples of words.
    """

    name = 'rack'
    cleared_by = 'The racks'
    identifying_names = frozenset({'name'})

    def __init__(self, conf):
        super().__init__(conf)
        self.racks, self.jobs, self.done = {}, {}, []
        self._migrations = collections.Counter()

    def discover(self, cloud, name):
        return base.Found(name, {'racks': 1}, {'state': 'disabled'})

    def admit(self, cloud, found):
        assert not self.servers_on(cloud, [found.name])
        self.racks[found.name].admitted = True

    def dismiss(self, cloud, resource):
        self.racks[resource.name].admitted = False

    def lent(self, cloud, reason):
        return clearable.Lent(
            hosts={name: 'it is admitted' if rack.admitted else None
                   for name, rack in self.racks.items() if rack.lent},
            nodes={name: clearable.Node(name, None, rack.enabled and not rack.admitted)
                   for name, rack in self.racks.items()})

    def servers_on(self, cloud, service_hosts):
        return [job for job in self.jobs.values() if job.host in service_hosts]

    def server(self, cloud, server_id):
        return self.jobs.get(server_id)

    def refusals(self, cloud, servers, project_id, leased, waited_for):
        return {job.id: 'it is of the same project' for job in servers
                if job.project_id == project_id}

    def destinations(self, cloud, lent, servers, tried):
        free = {name: {SLOTS: 2 - len(self.servers_on(cloud, [name]))}
                for name, node in lent.nodes.items() if node.is_target}
        return clearable.Destinations({
            job.id: choice.MovableServer(job.id, {SLOTS: 1}, frozenset(
                name for name, units in free.items()
                if units[SLOTS] and name not in (job.host, *tried.get(job.id, ()))))
            for mine in servers.values() for job in mine}, {}, free)

    def states(self, cloud):
        return dict(self.racks)

    def barred(self, cloud, hosts):
        return frozenset()

    def last_migration(self, cloud, server_id):
        number = self._migrations[server_id]
        return Migration(number) if number else None

    def disable(self, cloud, service_host, reason):
        rack = self.racks[service_host]
        if rack.enabled:
            rack.enabled, rack.reason = False, reason
            self.done.append(('disable', service_host))
        return rack.reason == reason

    def enable(self, cloud, service_host, reason):
        rack = self.racks[service_host]
        if rack.reason == reason:
            rack.enabled, rack.reason = True, None
            self.done.append(('enable', service_host))

    def migrate(self, cloud, server_id, service_host):
        self._migrations[server_id] += 1
        self.jobs[server_id].host = service_host
        self.done.append(('migrate', server_id, service_host))

    def confirm_migration(self, cloud, server_id):
        raise AssertionError('No job is ever stopped.')

    def as_enabled(self, cloud, found):
        return dataclasses.replace(found, facts={'state': 'enabled'})

    def disabled(self, observed):
        return []


class RackPlugin(base.ResourcePlugin):
    """Whole racks."""

    resource_type = 'test:rack'
    pools = (RackPool,)
    schema = {'type': 'object', 'properties': {'racks': {'type': 'integer', 'minimum': 1}},
              'required': ['racks'], 'additionalProperties': False}
    example = {'racks': 1}

    def needs(self, request):
        demand = selection.Demand(selection.WHOLE, request['racks'], request['racks'])
        return [base.Need('racks', 'rack', demand, requirement.parse(''))]

    def start(self, cloud, lease, reservation, resources):
        return {'racks': [each.name for each in resources['racks']]}

    def before_end(self, cloud, lease, reservation, resources):
        pass

    def end(self, cloud, lease, reservation, resources):
        pass
