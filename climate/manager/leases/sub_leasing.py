# SPDX-License-Identifier: Apache-2.0
"""Create a sub-lease: a lease of another project that gets a part of the hosts of a lease."""
import dataclasses

from oslo_log import log

from climate import context as contexts
from climate import errors
from climate.db import journal
from climate.db import leases
from climate.db import resources
from climate.domain import lease_actions
from climate.domain import records
from climate.domain import shares
from climate.domain import sub_leases
from climate.domain import texts
from climate.manager import core as cores
from climate.manager import owner_names
from climate.manager.leases import create
from climate.manager.limits import checking
from climate.manager.limits import subjects
from climate.manager.notifications import outbox
from climate.manager.shares import receivers
from climate.manager.sub_leases import division
from climate.manager.sub_leases import host_choice

LOG = log.getLogger(__name__)


class SubLeasing:
    """The use cases of /v1/leases/{id}/sub-leases. The API has checked that the caller may."""

    def __init__(self, core):
        self._core = core
        self._create = create.Create(core)
        self._owners = owner_names.OwnerNames(core)

    def create(self, context, lease_id, new_id, request):
        """Create the sub-lease of a SubLeaseRequest and return its Lease; see ``create.Create``.

        :param new_id: the id of the sub-lease.
        :raises LeaseNotFound: no lease has the id `lease_id`, or it was deleted.
        :raises SubLeaseRefused: the lease is a sub-lease, waits for its hosts, or has none.
        :raises BadTransition: the state of the lease forbids it.
        :raises BadField: a field of the request is wrong; the error names it.
        :raises NotEnough: too few hosts of the lease are free.
        :raises LimitExceeded: the sub-lease would exceed a limit of the receiving project.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            parent = leases.get(connection, lease_id)
        lease_actions.refuse(parent, lease_actions.SUB_LEASE, now)
        span = sub_leases.span_of(request, parent, now)
        receiver = receivers.find(self._core, shares.PROJECT_ID, request.project, 'project')
        if receiver.id == parent.project_id:
            raise errors.BadField(field='project', reason=(
                f'{receiver.name} has the lease already: name another project.'))
        hosts = host_choice.choose(self._core, parent, request, span)
        granted = _Grant(self._core, context, parent, hosts, receiver, _lease_request(
            self._core, request, span, now, parent, hosts))
        caller = contexts.RequestContext(
            user_id=context.user_id, user_name=context.user_name, project_id=receiver.id,
            project_name=receiver.name, roles=context.roles, auth_token=context.auth_token,
            request_id=context.request_id, overwrite=False)
        self._owners.remember(caller)
        return owner_names.by_caller(caller, self._create.take_over(caller, new_id, granted))

    def free_hosts(self, lease_id, start, end):
        """Return the FreeHosts of a lease for a sub-lease from `start` to `end`.

        :param start: None: as for a request without a start; likewise `end`.
        :raises ClimateError: as `create`.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            parent = leases.get(connection, lease_id)
        lease_actions.refuse(parent, lease_actions.SUB_LEASE, now)
        span = sub_leases.span_of(
            sub_leases.SubLeaseRequest('', '', start=start, end=end), parent, now)
        return host_choice.free(self._core, parent, span)


class _Grant:
    """The part of a lease that becomes a sub-lease.

    It has the methods of ``first_attempt.FirstAttempt``, which books a lease from the pool.

    :param request: the LeaseRequest of the sub-lease.
    """

    def __init__(self, core, context, parent, hosts, receiver, request):
        self._core = core
        self._context = context
        self._parent = parent
        self._hosts = hosts
        self._receiver = receiver
        self._request = request

    def request(self):
        """Return the LeaseRequest of the sub-lease."""
        return self._request

    def adapted(self, drafted):
        """Return the Draft of the sub-lease, which refers to its parent."""
        parent = self._parent
        lease = drafted.lease
        return dataclasses.replace(drafted, lease=dataclasses.replace(
            lease, parent_id=parent.id, parent=sub_leases.Parent(
                parent.id, parent.name, parent.project_id, parent.start, parent.end,
                tuple(each.id for each in parent.reservations)),
            reservations=tuple(dataclasses.replace(
                each, binding={sub_leases.PARENT: self._hosts[0].reservation_id})
                for each in lease.reservations)))

    def plan(self, draft):
        """Return (the Lease of a Draft, the Allocations that it gets)."""
        [reservation] = draft.lease.reservations
        [need] = self._core.registry.needs_of(reservation)
        return draft.lease, [records.Allocation(
            reservation.id, host.resource_id, draft.span.start, draft.span.end, need=need.key)
            for host in self._hosts]

    def preview(self, draft):
        """Return the result of `plan`; write nothing.

        :raises LimitExceeded: the lease would exceed a limit of its owner.
        """
        lease, planned = self.plan(draft)
        self._limits_of(draft).refuse_in_preview(
            subjects.of_new_lease(self._core, lease, planned, draft.roles))
        return lease, planned

    @cores.again_after_a_race
    def book(self, draft, planned, write):
        """Take the hosts from the parent, and call ``write(connection, lease, chosen)``.

        :returns: the result of `write`.
        :raises LostRace: the parent has changed, or gave the hosts to another sub-lease.
        """
        ids = {each.resource_id for each in planned}
        with self._core.database.writer() as connection:
            if {each.id for each in resources.lock(connection, ids)} != ids:
                raise errors.LostRace()
            self._limits_of(draft).refuse_excess(connection, subjects.of_new_lease(
                self._core, draft.lease, planned, draft.roles))
            parent = leases.lock(connection, self._parent.id)
            lease_actions.refuse(parent, lease_actions.SUB_LEASE, draft.now)
            resources.touch(connection, sorted(ids), draft.now)
            division.take(connection, parent, planned, draft.now)
            lease = write(connection, draft.lease, planned)
            self._report(connection, lease, draft.now)
        return lease

    def _limits_of(self, draft):
        return checking.applying(self._core, draft.lease.project_id, draft.lease.user_id,
                                 draft.now)

    def _report(self, connection, lease, now):
        """Write the history of both leases, and the notification to the receiving project."""
        who, parent = self._context.user_id or 'climate', self._parent
        named = self._core.resource_names.of(each.resource_id for each in self._hosts)
        count = len(self._hosts)
        text = (f'{count} host{"s" if count > 1 else ""} to project {self._receiver.name} '
                f'({self._receiver.id}) as lease {lease.name} ({lease.id}), {lease.interval}')
        journal.note_limited(connection, parent.id, now, who, sub_leases.SUB_LEASED,
                             texts.Text(text, f'{text}: {named}'))
        journal.note_limited(connection, lease.id, now, who, sub_leases.SUB_LEASED, texts.same(
            f'a part of lease {parent.name} ({parent.id}) of project '
            f'{self._context.project_name or parent.project_id}'))
        outbox.publish(connection, lease, now, sub_leases.SUB_LEASED)
        LOG.info('Lease %s: sub-leased to project %s as lease %s: %s', parent.id, lease.project_id,
                 lease.id, named)


def _lease_request(core, request, span, now, parent, hosts):
    """Return the LeaseRequest of a SubLeaseRequest for FreeHosts of one reservation."""
    [kind] = [each.resource_type for each in parent.reservations
              if each.id == hosts[0].reservation_id]
    start, end = span
    return records.LeaseRequest(
        name=request.name, start=None if start <= now else start, end=end,
        dry_run=request.dry_run, reservations=(records.ReservationRequest(
            kind, core.registry.plugin(kind).sub_lease_request(len(hosts))),))
