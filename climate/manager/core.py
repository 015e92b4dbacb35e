# SPDX-License-Identifier: Apache-2.0
"""What every use case of a manager needs, handed around as one thing."""
import collections.abc
import dataclasses
import datetime

from climate import cloud as clouds
from climate.db import engine
from climate.plugins import registry


@dataclasses.dataclass(frozen=True)
class Core:
    """The parts of one manager.

    :ivar clock: returns this moment; the database's, so that no machine's clock is trusted.
    :ivar wake: called after a change that may have made an event due.
    """

    conf: object
    database: engine.Database
    cloud: clouds.Cloud
    registry: registry.Registry
    clock: collections.abc.Callable[[], datetime.datetime]
    wake: collections.abc.Callable[[], None] = lambda: None
