# SPDX-License-Identifier: Apache-2.0
"""What every use case of a manager needs, handed around as one thing."""
import collections.abc
import dataclasses
import datetime
import time

import tenacity

from climate import cloud as clouds
from climate import errors
from climate.db import engine
from climate.plugins import registry

#: Repeats a method whose transaction lost a race or was chosen to break a deadlock. What it did
#: before was rolled back; a claim that is really lost is lost at each try.
again_after_a_race = tenacity.retry(
    retry=tenacity.retry_if_exception_type(errors.LostRace),
    stop=tenacity.stop_after_attempt(5), wait=tenacity.wait_random(0, 0.1), reraise=True)


@dataclasses.dataclass(frozen=True)
class Core:
    """The parts of one manager.

    :ivar clock: returns this moment; the database's, so that no machine's clock is trusted.
    :ivar wake: called after a change that may have made an event due.
    :ivar monotonic: returns seconds that rise also while this process is stopped; they say only
        how long something took here.
    """

    conf: object
    database: engine.Database
    cloud: clouds.Cloud
    registry: registry.Registry
    clock: collections.abc.Callable[[], datetime.datetime]
    wake: collections.abc.Callable[[], None] = lambda: None
    monotonic: collections.abc.Callable[[], float] = time.monotonic
