# SPDX-License-Identifier: Apache-2.0
"""The shares of leases: who else may see, use or change a lease, and for how long."""
from collections.abc import Collection
from collections.abc import Iterable
import dataclasses
import datetime
import enum
from typing import Any

from climate import errors
from climate.domain import losses

Moment = datetime.datetime

VIEWER, USER, MANAGER = ROLES = ('viewer', 'user', 'manager')
KEEP, STOP, DELETE = ON_WITHDRAWAL = ('keep', 'stop', 'delete')
#: The receivers of a share, by the field that names them.
PROJECT_ID, USER_ID = RECEIVERS = ('project_id', 'user_id')

#: The changes of shares: the headings in the history, and the event types after "lease.".
SHARED, WITHDRAWN, LEFT = CHANGES = ('shared', 'share_withdrawn', 'share_left')


class Access(enum.IntEnum):
    """The access of a caller to a lease; each level includes the lower ones."""

    NONE = 0
    VIEWER = 1
    USER = 2
    MANAGER = 3
    OWNER = 4


@dataclasses.dataclass(frozen=True)
class Share:
    """A share of a lease with one project, or with one user.

    :ivar role: VIEWER, USER or MANAGER.
    :ivar receiver_name: the name of the project or the user when the share was made.
    :ivar until: the moment at which the share ends by itself; None: with the lease.
    :ivar on_withdrawal: what happens to running servers of the receiver: KEEP, STOP or DELETE.
    :ivar notice_seconds: the time between the withdrawal and the stop or the deletion.
    :ivar withdrawn_at: when the share ended; None: it is open.
    :ivar cleared_at: when the servers were stopped or deleted as `on_withdrawal` says; None: they
        were not, or need not be.
    """

    id: str
    lease_id: str
    role: str
    created_at: Moment
    created_by: str
    project_id: str | None = None
    user_id: str | None = None
    receiver_name: str | None = None
    until: Moment | None = None
    on_withdrawal: str = KEEP
    notice_seconds: int = 0
    withdrawn_at: Moment | None = None
    cleared_at: Moment | None = None

    def is_open(self, now: Moment | None) -> bool:
        """Return whether the share gives access at `now`; None: until its end is recorded."""
        return self.withdrawn_at is None and (
            now is None or self.until is None or self.until > now)

    def is_for(self, caller: Any) -> bool:
        """Return whether a caller, a RequestContext, is the receiver."""
        return ((self.project_id is not None and self.project_id == caller.project_id)
                or (self.user_id is not None and self.user_id == caller.user_id))

    @property
    def receiver(self) -> str:
        """Return the receiver in words, with its name and its id."""
        kind, key = (('project', self.project_id) if self.project_id is not None
                     else ('user', self.user_id))
        return f'{kind} {self.receiver_name} ({key})' if self.receiver_name else f'{kind} {key}'

    @property
    def access(self) -> Access:
        """Return the access that the share gives."""
        return Access[self.role.upper()]

    @property
    def lets_in(self) -> bool:
        """Return whether a project may boot servers on the resources while the share is open."""
        return self.project_id is not None and self.access >= Access.USER

    @property
    def clears_at(self) -> Moment | None:
        """Return when the servers of a withdrawn share are stopped or deleted; None: never."""
        if self.withdrawn_at is None or self.on_withdrawal == KEEP or not self.lets_in:
            return None
        return self.withdrawn_at + datetime.timedelta(seconds=self.notice_seconds)


@dataclasses.dataclass(frozen=True)
class Withdrawal:
    """A withdrawn share, and the running servers of its receiver.

    :ivar servers: None: the cloud could not list them.
    """

    share: Share
    servers: tuple[losses.Loss, ...] | None


@dataclasses.dataclass(frozen=True)
class ShareRequest:
    """A request to share a lease.

    :ivar receiver: the id or the name of the project or the user.
    :ivar receiver_kind: PROJECT_ID or USER_ID.
    :ivar on_withdrawal: None: as the configuration says; likewise `notice_seconds`.
    """

    receiver_kind: str
    receiver: str
    role: str
    until: Moment | None = None
    on_withdrawal: str | None = None
    notice_seconds: int | None = None


def best_of(shares: Iterable[Share], caller: Any, now: Moment) -> Share | None:
    """Return the open share that gives a caller the most access; None: no share is for it."""
    return max((share for share in shares if share.is_open(now) and share.is_for(caller)),
               key=lambda share: share.access, default=None)


def access_of(lease: Any, caller: Any, now: Moment) -> Access:
    """Return the access of a caller to a lease by its ownership and its shares, not by roles.

    :param lease: a Lease, or another record with `project_id`; without `shares` it has none.
    """
    if lease.project_id == caller.project_id:
        return Access.OWNER
    share = best_of(getattr(lease, 'shares', ()), caller, now)
    return Access.NONE if share is None else share.access


def guests(shares: Iterable[Share], now: Moment | None = None) -> frozenset[str]:
    """Return the ids of the other projects that may boot servers on the resources.

    :param now: None: until the ends of their shares are recorded.
    """
    return frozenset(share.project_id for share in shares
                     if share.project_id is not None and share.lets_in and share.is_open(now))


def former_guests(shares: Collection[Share]) -> frozenset[str]:
    """Return the ids of the projects that were guests before, by the recorded withdrawals."""
    return frozenset(share.project_id for share in shares
                     if share.project_id is not None and share.lets_in) - guests(shares)


def to_clear(shares: Collection[Share], now: Moment) -> list[Share]:
    """Return the withdrawn shares whose servers are stopped or deleted now.

    If the lease is shared with the project again, its servers stay. When the later share is
    withdrawn, only this withdrawal counts, because the project was notified of its fate last.
    """
    present = guests(shares, now)
    withdrawn = sorted((share.withdrawn_at, share.created_at, share.id, share)
                       for share in shares if share.lets_in and share.withdrawn_at is not None)
    last = {share.project_id: share for *_, share in withdrawn}
    return [share for project_id, share in last.items() if share.cleared_at is None
            and share.clears_at is not None and share.clears_at <= now
            and project_id not in present]


def expired(shares: Iterable[Share], now: Moment) -> list[Share]:
    """Return the shares whose end has passed and that are not recorded as withdrawn yet."""
    return [share for share in shares if share.withdrawn_at is None
            and share.until is not None and share.until <= now]


def refuse_wrong(request: ShareRequest, lease: Any, now: Moment) -> None:
    """Refuse a request whose fields do not fit to each other or to the lease.

    :raises BadField: the error names the field and says what is possible.
    """
    if request.until is not None and request.until <= now:
        raise errors.BadField(field='until', reason=(
            'the moment has passed: give a future one, or leave it out to share the lease until '
            'its end.'))
    if request.receiver_kind == USER_ID and request.role == USER:
        raise errors.BadField(field='role', reason=(
            'a single user cannot use the resources, because the scheduler decides by projects. '
            'Share the lease with a project, or with the user as viewer or manager.'))
    if request.on_withdrawal is not None and (
            request.receiver_kind == USER_ID or request.role == VIEWER):
        raise errors.BadField(field='on_withdrawal', reason=(
            'a viewer, or a single user, has no servers on the resources: leave it out.'))
    own = lease.project_id if request.receiver_kind == PROJECT_ID else lease.user_id
    if request.receiver == own:
        raise errors.BadField(field=request.receiver_kind, reason=(
            f'{request.receiver} owns the lease already: name another project or user.'))
