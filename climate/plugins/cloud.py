# SPDX-License-Identifier: Apache-2.0
"""Protocols of the cloud that plugins get as a parameter, so that they need not import it."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any
from typing import Protocol

from climate.domain import records


@dataclasses.dataclass(frozen=True)
class Attempt:
    """One try of an action, by which a plugin can limit the duration of the action.

    :ivar now: the present time.
    :ivar since: when the action was first tried.
    :ivar failures: the number of failed tries of the action.
    :ivar is_first: whether it is the first try of a start, so that the cloud has only those objects
        of the lease that were created before the start.
    :ivar former: {reservation id: the exclusive Resources that it still occupies, although they are
        not allocated to it any more}; only in a start.
    """

    now: datetime.datetime
    since: datetime.datetime
    failures: int = 0
    is_first: bool = False
    former: Mapping[str, tuple[records.Resource, ...]] = dataclasses.field(default_factory=dict)


class Cloud(Protocol):
    """The cloud as Climate itself uses it."""

    def as_service(self) -> Any:
        """Return the ``climate.cloud.base.CloudServices`` that act as Climate itself."""


class LeaseCloud(Cloud, Protocol):
    """The cloud during an action for one lease.

    :ivar attempt: the try in which the plugin is called; None if it is only asked a question.
    """

    attempt: Attempt | None

    def as_user(self) -> Any:
        """Return the ``climate.cloud.base.CloudServices`` that act for the owner of the lease.

        :raises TrustDead: the lease has no trust, or Keystone gives no token for it any more.
        """

    def as_user_redelegated(self) -> Any:
        """Return the Services that act for the owner under a trust made from that of the lease.

        Use this to create an object for which a service creates its own trust: from one trust it
        can do so only once. Each call creates a trust, which is deleted with that of the lease.

        :raises TrustDead: the lease has no trust, or Keystone gives no token for it any more.
        """

    def warn(self, reservation: records.Reservation, key: str, text: str,
             operators_text: str | None = None) -> None:
        """Write `text` into the history and the ``status_reason`` of the lease, for the owner.

        It must not name a host, nor quote another service: that belongs in `operators_text`, which
        operators get instead.

        It is written once the method has returned or raised. Raise StillBusy after it to continue
        only then: ``reservation.binding['warnings']`` has the key of each written warning.
        """

    def whole_request(self, reservation: records.Reservation) -> dict[str, Any]:
        """Return the request of a reservation with its secret fields.

        Climate deletes them once the reservation is active: then they are None.
        """

    def fields(self, reservation: records.Reservation) -> dict[str, Any]:
        """Return the fields of a reservation of the lease as in answers, with its id.

        A plugin reads there the objects of the reservations that its own one depends on.
        """

    def announce(self, what: str, words: Mapping[str, str]) -> None:
        """Write into the history the next change of servers, or the created objects.

        :param what: the heading of the entries, such as "delete server".
        :param words: {id: text about it}; the text contains the id.
        :raises StillBusy: it is written after this call; the method is called again then.
        """

    def release(self, reservation: records.Reservation,
                resources: Iterable[records.Resource]) -> None:
        """Release these whole resources of a reservation before its end is done.

        Call it in `end` once the cloud can use them again, before an error because of the others.
        """

    def as_owner_or_service(self) -> Any:
        """Return the Services that act for the owner or, if impossible, as Climate itself.

        Use this only to remove objects.
        """
