# SPDX-License-Identifier: Apache-2.0
"""Transfers of leases: offers of a lease, or of a part of it, to another project."""
import dataclasses
import datetime
import hashlib

from climate import errors
from climate.domain import acquire
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import sub_leases

Moment = datetime.datetime

OFFERED, ACCEPTED, DECLINED, WITHDRAWN, EXPIRED = STATUSES = (
    'offered', 'accepted', 'declined', 'withdrawn', 'expired')
#: The changes of transfers: the headings in the history, and the event types after "lease.".
OFFER, TRANSFER, DECLINE, WITHDRAWAL = CHANGES = (
    'transfer_offered', 'transferred', 'transfer_declined', 'transfer_withdrawn')
#: How long an offer is open, unless the owner says otherwise.
USUAL = datetime.timedelta(days=7)


@dataclasses.dataclass(frozen=True)
class Transfer:
    """An offer of a lease to another project.

    :ivar from_project: the project that offers the lease.
    :ivar project_id: the receiver; None: any project that has the key.
    :ivar receiver_name: the name of the receiver when the offer was made.
    :ivar key_hash: the SHA-256 of the one-time key; None: the offer names its receiver.
    :ivar hosts: the number of hosts of a future lease that are offered; None: the whole lease.
    :ivar on_withdrawal: what happens to running servers of the old project: keep, stop or delete.
    :ivar notice_seconds: the time between the acceptance and the stop or the deletion.
    :ivar status: the stored status, see `status_at`.
    :ivar new_lease_id: the lease that the receiver got; None: the offer was not accepted.
    """

    id: str
    lease_id: str
    from_project: str
    expires_at: Moment
    created_at: Moment
    created_by: str
    on_withdrawal: str
    notice_seconds: int
    project_id: str | None = None
    receiver_name: str | None = None
    key_hash: str | None = dataclasses.field(default=None, repr=False)
    hosts: int | None = None
    status: str = OFFERED
    decided_at: Moment | None = None
    decided_by: str | None = None
    new_lease_id: str | None = None

    def status_at(self, now: Moment) -> str:
        """Return the status of the offer at `now`."""
        return EXPIRED if self.status == OFFERED and self.expires_at <= now else self.status

    def is_open(self, now: Moment) -> bool:
        """Return whether the offer can be accepted at `now`."""
        return self.status_at(now) == OFFERED

    def is_for(self, project_id: str | None, key: str | None = None) -> bool:
        """Return whether a project, or the owner of a key, may see and accept the offer."""
        if self.key_hash is None:
            return self.project_id == project_id
        if self.status == ACCEPTED and self.project_id == project_id:
            return True
        return key is not None and self.key_hash == hash_of(key)

    @property
    def receiver(self) -> str:
        """Return the receiver in words, with its name and its id."""
        if self.project_id is None:
            return 'the owner of a key'
        return (f'project {self.receiver_name} ({self.project_id})' if self.receiver_name
                else f'project {self.project_id}')

    @property
    def offered(self) -> str:
        """Return what is offered, in words."""
        if self.hosts is None:
            return 'the lease'
        return '1 host' if self.hosts == 1 else f'{self.hosts} hosts'


@dataclasses.dataclass(frozen=True)
class TransferRequest:
    """A request to offer a lease.

    :ivar project: the id or the name of the receiver; None: the offer gets a key.
    :ivar hosts: None: the whole lease.
    :ivar on_withdrawal: None: as the configuration says; likewise `notice_seconds`.
    """

    project: str | None = None
    hosts: int | None = None
    expires_at: Moment | None = None
    on_withdrawal: str | None = None
    notice_seconds: int | None = None


@dataclasses.dataclass(frozen=True)
class NewTransfer:
    """A Transfer that was just made, and its one-time key; None: it has none."""

    transfer: Transfer
    key: str | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True)
class TransferPreview:
    """An offer, and the lease that its receiver would get now.

    :ivar lease: the Lease of a dry run, with its price; None: it cannot be accepted now.
    :ivar problem: why the offer cannot be accepted now, for operators; None: it can.
    :ivar owner_problem: the same for the receiver.
    :ivar generation: the generation of the offered lease.
    """

    transfer: Transfer
    lease: records.Lease | None
    generation: int
    problem: str | None = None
    owner_problem: str | None = None


def hash_of(key: str) -> str:
    """Return the SHA-256 of a one-time key."""
    return hashlib.sha256(key.encode()).hexdigest()


def refuse_untransferable(lease: records.Lease, hosts: int | None, now: Moment) -> None:
    """Refuse a lease whose state or type does not allow a transfer.

    :param hosts: the number of hosts that are transferred; None: the whole lease.
    :raises TransferRefused: the error says why.
    """
    reason = _why_not(lease, hosts, now)
    if reason is not None:
        raise errors.TransferRefused(lease_id=lease.id, reason=reason)


def _why_not(lease: records.Lease, hosts: int | None, now: Moment) -> str | None:
    if lease.state in lifecycle.OVER or lease.end <= now or lease.deleted_at is not None:
        return 'it is over'
    if due_events.deletion_ordered(lease):
        return 'it is being deleted'
    if lease.state == lifecycle.ACQUIRING:
        return 'it waits for its resources: offer it when it has them'
    if lease.acquire_type == acquire.BEST_EFFORT:
        return 'its hosts were cleared for it, so they go back to the pool at its end'
    if lease.parent_id is not None:
        return 'it is a sub-lease, whose hosts belong to another lease'
    if lease.sub_leases:
        return f'it has sub-leases, which must end first: {sub_leases.named(lease.sub_leases)}'
    if lease.state == lifecycle.ERROR:
        return 'it is in error'
    if lease.task is not None or any(
            event.status == lifecycle.EVENT_IN_PROGRESS for event in lease.events):
        return 'Climate works on it: try again in a moment'
    if lease.state == lifecycle.PENDING and lease.start <= now:
        return 'it starts now: try again in a moment'
    if hosts is not None and lease.state != lifecycle.PENDING:
        return 'it has begun, so it can only be transferred as a whole'
    return None


def refuse_wrong(request: TransferRequest, lease: records.Lease, now: Moment) -> None:
    """Refuse a request whose fields do not fit to the lease.

    :raises BadField: the error names the field and says what is possible.
    """
    if request.project == lease.project_id:
        raise own_project(request.project)
    if request.expires_at is not None and not now < request.expires_at <= lease.end:
        raise errors.BadField(field='expires_at', reason=(
            'the offer must expire after now, and at the end of the lease at the latest.'))


def own_project(project_id: str) -> errors.BadField:
    """Return the error of an offer to the project that owns the lease."""
    return errors.BadField(field='project_id', reason=(
        f'project {project_id} owns the lease already: name another project.'))
