# SPDX-License-Identifier: Apache-2.0
"""The parts that every use case of a manager needs, in one record."""
import collections.abc
import dataclasses
import datetime
import time

import tenacity

from climate import cloud as clouds
from climate import errors
from climate.db import engine
from climate.plugins import registry

#: Call a method again if its transaction lost a race or was chosen to break a deadlock. The lost
#: transaction was rolled back. If the claim itself is lost, each try raises that error again.
again_after_a_race = tenacity.retry(
    retry=tenacity.retry_if_exception_type(errors.LostRace),
    stop=tenacity.stop_after_attempt(5), wait=tenacity.wait_random(0, 0.1), reraise=True)


@dataclasses.dataclass(frozen=True)
class Core:
    """The parts of one manager.

    :ivar clock: returns the present moment by the clock of the database; no other machine's clock
        is trusted.
    :ivar notify: called after a change that may have made an event due.
    :ivar monotonic: returns seconds that rise also while this process is stopped; use them only to
        measure how long something took in this process.
    """

    conf: object
    database: engine.Database
    cloud: clouds.Cloud
    registry: registry.Registry
    clock: collections.abc.Callable[[], datetime.datetime]
    notify: collections.abc.Callable[[], None] = lambda: None
    monotonic: collections.abc.Callable[[], float] = time.monotonic
