# SPDX-License-Identifier: Apache-2.0
"""The connection from which a simulated face is created."""
from concurrent import futures
import dataclasses

from climate.cloud.simulated import calls
from climate.cloud.simulated import lifecycle


@dataclasses.dataclass(frozen=True)
class Link:
    """The connection to the services of the simulated cloud under one identity.

    :ivar calls: the Calls of that identity; access to the state without it bypasses the guard.
    :ivar pool: the executor of concurrent calls; None: they are made one after the other.
    :ivar lifecycle: the Lifecycle of the servers.
    """

    calls: calls.Calls
    pool: futures.Executor | None
    lifecycle: lifecycle.Lifecycle
