# SPDX-License-Identifier: Apache-2.0
"""The objects of the cloud that the end or a change of a lease deletes or stops."""
from collections.abc import Iterable
import dataclasses
import datetime

#: The fates of an object. A detached port stays usable in no network, so it counts as deleted.
DELETED, SUSPENDED, SHELVED = 'deleted', 'suspended', 'shelved'
#: Further fates of servers of another project, when its share of a lease is withdrawn.
STOPPED, KEPT = 'stopped', 'kept'
#: The fate of a sub-lease, when the lease that its hosts belong to ends.
ENDED = 'ended'


@dataclasses.dataclass(frozen=True)
class Loss:
    """An object that its owner loses, or cannot use any more.

    :ivar kind: "server", "volume", "stack", "cluster", "node group", "floating IP", "network",
        "router", "port", "trunk" or "sub-lease"; types of other vendors may have other kinds.
    :ivar name: the name of the object; of a floating IP its address; '' if it has none.
    :ivar project_id: the project that owns the object.
    :ivar fate: what happens to it: one of the fates above.
    :ivar saved: whether an image of it is made first.
    :ivar resource: the name of the resource that has it, such as a host; None: none, or not known.
    :ivar at: the moment at which it is lost; None: at once.
    """

    kind: str
    id: str
    name: str
    project_id: str
    fate: str = DELETED
    saved: bool = False
    resource: str | None = None
    at: datetime.datetime | None = None


def once(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """Return each lost object once, in order of kind and name.

    Several reservations may lose the same object. If one of them deletes it, it is deleted.
    """
    by_object: dict[tuple[str, str], Loss] = {}
    for loss in losses:
        before = by_object.get((loss.kind, loss.id))
        if before is None or (before.fate != DELETED and loss.fate == DELETED):
            by_object[loss.kind, loss.id] = loss
    return tuple(sorted(by_object.values(), key=lambda loss: (loss.kind, loss.name, loss.id)))
