# SPDX-License-Identifier: Apache-2.0
"""The contract of an enforcement driver, an entry point of ``climate.enforcement``."""
import abc
from collections.abc import Mapping
import dataclasses
from typing import Any

from oslo_config import cfg

#: The kinds of calls: a new lease, a change of a lease, the end of a lease.
CREATE, UPDATE, END = 'create', 'update', 'end'


@dataclasses.dataclass(frozen=True)
class Call:
    """One question or report about a lease.

    :ivar id: an id that is the same at every attempt, so that a receiver can drop duplicates.
    :ivar kind: CREATE, UPDATE or END.
    :ivar body: ``context`` and ``lease`` and, for UPDATE, ``current_lease``: the lease as it was
        reported before. Resources are not changed by the driver.
    :ivar token: the token of the user who makes the request; None: no user waits for the answer.
    """

    id: str
    kind: str
    body: Mapping[str, Any]
    token: str | None = dataclasses.field(default=None, repr=False)


class EnforcementDriver(abc.ABC):
    """Calls an enforcement service. One instance serves all threads of a manager.

    Each method returns within about [enforcement] timeout_seconds, and may be repeated. It raises
    ``errors.EnforcementUnavailable`` if the service says neither yes nor no. Errors must not
    contain tokens.

    :cvar charges_when_asked: whether the service may charge when `ask` is called.
    """

    charges_when_asked = False

    def __init__(self, conf: cfg.ConfigOpts, cloud: Any) -> None:
        """Prepare the driver without calling the service.

        :param cloud: the cloud of the manager, for tokens of Climate itself.
        """
        self.conf = conf

    def check(self) -> None:
        """Check the configuration.

        :raises ConfigurationError: an option cannot be used; the text names the option.
        """

    def reach(self) -> str | None:
        """Check that the service can be reached; return the problem, or None."""
        return None

    @abc.abstractmethod
    def ask(self, call: Call) -> None:
        """Ask whether a CREATE or UPDATE is allowed; return if it is.

        :raises EnforcementRefused: the service refuses; the error has its text.
        :raises EnforcementBusy: too many requests wait for the service already.
        """

    @abc.abstractmethod
    def commit(self, call: Call) -> None:
        """Report a CREATE or UPDATE that was carried out, so that the service charges for it.

        :raises EnforcementRefused: the service refuses; the error has its text.
        """

    @abc.abstractmethod
    def end(self, call: Call) -> None:
        """Report that a lease is over. An unknown lease is no error."""
