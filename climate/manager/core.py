# SPDX-License-Identifier: Apache-2.0
"""The record of the dependencies that all use cases of a manager share, and common helpers."""
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
from climate.enforcement import base as enforcement_drivers
from climate.manager import counters
from climate.manager import known_versions
from climate.manager import ownership
from climate.plugins import registry

LOG = log.getLogger(__name__)

# After this number of failures in a row, the cause is the service and not a bad item.
_FAILURES_IN_A_ROW = 3

#: Decorator: call the method again if its transaction lost a race or was aborted to break a
#: deadlock. The database has rolled that transaction back. If another manager has taken over the
#: claim, every try fails.
again_after_a_race = tenacity.retry(
    retry=tenacity.retry_if_exception_type(errors.LostRace),
    stop=tenacity.stop_after_attempt(5), wait=tenacity.wait_random(0, 0.1), reraise=True)


class ResourceNames:
    """The names of the resources that this process has read so far, for log messages."""

    def __init__(self):
        self._names = {}

    def learn(self, resources):
        """Remember the names of Resources."""
        self._names |= {resource.id: resource.name for resource in resources}

    def of(self, ids):
        """Return a text such as "compute-1 (7), compute-2 (9)"; "none" if there are no ids.

        A resource whose name is unknown appears as its id.
        """
        return ', '.join(f'{self._names[key]} ({key})' if key in self._names else str(key)
                         for key in sorted(set(ids))) or 'none'


@dataclasses.dataclass(frozen=True)
class Core:
    """The dependencies of the use cases of one manager.

    :ivar clock: returns the current time of the database, which all managers share.
    :ivar notify: wakes the event loop. Call it after a change that may have made an event due.
    :ivar monotonic: returns a number of seconds that also grows while this process is stopped. Use
        it only to measure durations in this process.
    :ivar counts: the Counters of this manager, for the metrics.
    :ivar limit_books: the cache of the limit book; read it with ``limits.books.known``.
    :ivar enforcement: the driver of the service that allows leases; None: no service is asked.
    :ivar unified_limits: the cache of the limits of projects in Keystone; read it with
        ``limits.unified.of_project``.
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
    limit_books: known_versions.KnownVersions = dataclasses.field(
        default_factory=known_versions.KnownVersions)
    enforcement: enforcement_drivers.EnforcementDriver | None = None
    unified_limits: dict = dataclasses.field(default_factory=dict)


@contextlib.contextmanager
def isolated(item, *names, then='the next pass tries it again'):
    """Run the block for one item of a periodic task, so that its failure stops no other item.

    A failure is logged and not raised.

    :param item: the item in words, for the log, with a placeholder for each of `names`.
    :param then: what follows the failure, in words, for the log.
    :raises DatabaseUnreachable: the database does not answer, so every other item would fail, too.
    :raises ClaimLost: another manager has taken over the lease.
    """
    try:
        yield
    except (errors.DatabaseUnreachable, ownership.ClaimLost):
        raise
    except errors.LostRace:
        LOG.debug(f'{item}: another request changed it; {then}', *names)
    except errors.ClimateError as error:
        LOG.warning(f'{item}: failed; {then}: %s', *names, error.message)
    except Exception:  # Outer loop: one failing item must not stop the others.
        LOG.exception(f'{item}: failed unexpectedly; {then}', *names)


def ask_together_or_each(ask, items, description):
    """Call `ask` with all items at once or, if that fails, with one item at a time.

    So one bad item does not hide the answers for the other items. After several failures in a row,
    the remaining items wait for the next pass.

    :param description: the items in words, for the log.
    :returns: the list of answers of the calls that succeeded.
    """
    alone = len(items) == 1
    with isolated(description, **({} if alone else {'then': 'each is tried alone'})):
        return [ask(items)]
    answers, failures = [], 0
    for item in () if alone else items:
        if failures == _FAILURES_IN_A_ROW:
            break
        failures += 1
        with isolated('%s: one of them', description):
            answers.append(ask([item]))
            failures = 0
    return answers
