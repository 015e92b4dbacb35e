# SPDX-License-Identifier: Apache-2.0
"""Protocols of the `cloud` parameter of plugins, so that plugins need not import climate.cloud."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any
from typing import Protocol

from climate.domain import records


@dataclasses.dataclass(frozen=True)
class Attempt:
    """The present attempt of an action. Plugins use its times to limit the action's duration.

    :ivar now: the present time.
    :ivar since: the time of the first attempt.
    :ivar failures: the number of failed attempts.
    :ivar is_first: True for the first attempt of a start. Then the cloud has only those objects of
        the lease that `create_early`, `prepare` and `stage` created.
    :ivar former: {reservation id: the exclusive Resources that it still occupies, although they are
        not allocated to it any more}; empty unless the action is a start.
    """

    now: datetime.datetime
    since: datetime.datetime
    failures: int = 0
    is_first: bool = False
    former: Mapping[str, tuple[records.Resource, ...]] = dataclasses.field(default_factory=dict)

    def exceeds(self, seconds: float) -> bool:
        """Return whether the first attempt was at least this long ago; 0 seconds mean no limit."""
        return bool(seconds) and (self.now - self.since).total_seconds() >= seconds


class Cloud(Protocol):
    """The cloud as Climate itself uses it."""

    def as_service(self) -> Any:
        """Return the ``climate.cloud.base.CloudServices`` that act as Climate itself."""


class LeaseCloud(Cloud, Protocol):
    """The cloud during an action for one lease.

    :ivar attempt: the Attempt in `prepare`, `stage`, `start`, `before_end`, `secure` and `end`;
        None in other methods.
    """

    attempt: Attempt | None

    def as_user(self) -> Any:
        """Return the ``climate.cloud.base.CloudServices`` that act for the owner of the lease.

        :raises TrustDead: the lease has no trust, or Keystone gives no token for it any more.
        """

    def as_user_redelegated(self) -> Any:
        """Return the Services that act for the owner under a new trust.

        Use this to create an object for which a service creates its own trust, because a service
        can do that only once with each trust. Each call creates a trust from the trust of the
        lease, and Climate deletes both together.

        :raises TrustDead: the lease has no trust, or Keystone gives no token for it any more.
        """

    def warn(self, reservation: records.Reservation, key: str, text: str,
             operators_text: str | None = None) -> None:
        """Write `text` into the history and the ``status_reason`` of the lease, for the owner.

        `text` must not name a host, nor quote another service. Put that into `operators_text`,
        which operators get instead.

        Climate writes the warning when the calling method returns or raises. If the next step must
        not precede the warning, raise StillBusy. In the next call,
        ``reservation.binding['warnings']`` has the key of each written warning.
        """

    def whole_request(self, reservation: records.Reservation) -> dict[str, Any]:
        """Return the request of a reservation with its secret fields.

        Once the reservation is active, Climate deletes the secret fields; then they are None.
        """

    def fields(self, reservation: records.Reservation) -> dict[str, Any]:
        """Return the fields of a reservation of the lease as in responses, with its id.

        Plugins use them to find the objects of reservations that another reservation depends on.
        """

    def announce(self, what: str, words: Mapping[str, str]) -> None:
        """Write into the history which objects are changed next, or were created.

        :param what: the heading of the entries, such as "delete server".
        :param words: {id: text about the object}; the text contains the id.
        :raises StillBusy: Climate writes the entries now and calls the plugin again afterwards.
        """

    def release(self, reservation: records.Reservation,
                resources: Iterable[records.Resource]) -> None:
        """Release these whole resources of a reservation before its end is finished.

        Call it in `end` for resources that other leases can use, before you raise an error for
        resources that they cannot use yet.
        """

    def as_owner_or_service(self) -> Any:
        """Return the Services that act for the owner or, if that is impossible, as Climate itself.

        Use this only to remove objects.
        """
