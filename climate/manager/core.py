# SPDX-License-Identifier: Apache-2.0
"""The parts that every use case of a manager needs, in one record."""
import collections.abc
import contextlib
import dataclasses
import datetime
import time

from oslo_log import log
import tenacity

from climate import cloud as clouds
from climate import errors
from climate.db import engine
from climate.manager import counters
from climate.manager import ownership
from climate.plugins import registry

LOG = log.getLogger(__name__)

# After this number of failures in a row, the service is down; it is not one bad item.
_FAILURES_IN_A_ROW = 3

#: Call a method again if its transaction lost a race or was chosen to break a deadlock. The lost
#: transaction was rolled back. If the claim itself is lost, each try raises that error again.
again_after_a_race = tenacity.retry(
    retry=tenacity.retry_if_exception_type(errors.LostRace),
    stop=tenacity.stop_after_attempt(5), wait=tenacity.wait_random(0, 0.1), reraise=True)


class ResourceNames:
    """The names of resources that this process has read, for the log; none is read for it."""

    def __init__(self):
        self._names = {}

    def learn(self, resources):
        """Remember the names of Resources."""
        self._names |= {resource.id: resource.name for resource in resources}

    def of(self, ids):
        """Return resources in words, such as "compute-1 (7), compute-2 (9)"; "none" without any.

        A resource without a known name appears by its id alone.
        """
        return ', '.join(f'{self._names[key]} ({key})' if key in self._names else str(key)
                         for key in sorted(set(ids))) or 'none'


@dataclasses.dataclass(frozen=True)
class Core:
    """The parts of one manager.

    :ivar clock: returns the current time by the clock of the database; no other clock is
        trusted.
    :ivar notify: called after a change that may have made an event due.
    :ivar monotonic: returns seconds that rise also while this process is stopped; use them only to
        measure durations in this process.
    :ivar counts: the Counters of this manager, for the metrics.
    :ivar resource_names: for the log.
    """

    conf: object
    database: engine.Database
    cloud: clouds.CloudDriver
    registry: registry.Registry
    clock: collections.abc.Callable[[], datetime.datetime]
    notify: collections.abc.Callable[[], None] = lambda: None
    monotonic: collections.abc.Callable[[], float] = time.monotonic
    counts: counters.Counters = dataclasses.field(default_factory=counters.Counters)
    resource_names: ResourceNames = dataclasses.field(default_factory=ResourceNames)


@contextlib.contextmanager
def isolated(item, *names):
    """Run the block for one item of a periodic task, so that a failure stops no other item.

    The failure is logged, and the block ends. The next pass tries the item again.

    :param item: the item, for the log, with a placeholder for each of `names`.
    :raises DatabaseUnreachable: every other item would fail, too.
    :raises ClaimLost: another manager has taken over what this one works on.
    """
    try:
        yield
    except (errors.DatabaseUnreachable, ownership.ClaimLost):
        raise
    except errors.LostRace:
        LOG.debug(f'{item}: another request changed it; the next pass tries it again', *names)
    except errors.ClimateError as error:
        LOG.warning(f'{item}: failed, the next pass tries it again: %s', *names, error.message)
    except Exception:  # Outer loop: one failing item must not stop the others.
        LOG.exception(f'{item}: failed unexpectedly; the next pass tries it again', *names)


def ask_together_or_each(ask, items, description):
    """Return the answers of `ask` to a list of items, as a list without the items that fail.

    `ask` gets all items at once. If that fails, it gets each item alone, so that one bad item does
    not hide the others. After some failures in a row, the rest is left to the next pass.

    :param description: the items, for the log.
    """
    with isolated(description):
        return [ask(items)]
    answers, failures = [], 0
    for item in items if len(items) > 1 else ():
        if failures == _FAILURES_IN_A_ROW:
            break
        failures += 1
        with isolated('%s: one of them', description):
            answers.append(ask([item]))
            failures = 0
    return answers
