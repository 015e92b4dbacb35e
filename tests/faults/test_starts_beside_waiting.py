# SPDX-License-Identifier: Apache-2.0
"""Starts and ends are on time beside a hundred leases that wait, ten of a hundred reservations.

The manager works by itself, in real time. What its own threads and the machine cost is measured
with the same starts and ends while no lease waits. Something else on the machine may delay one
round, so there are a few of them, and one that is on time is enough.

CLIMATE_WAITING  how many leases wait (default: 100)
"""
import datetime
import functools
import os
import time

import pytest
from support import builders
from support import waiting

from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import endpoint
from climate.manager import service
from climate.rpc import client

pytestmark = pytest.mark.faults

_WAITING = int(os.environ.get('CLIMATE_WAITING', 100))
# How many of them have a hundred reservations.
_LARGE = 10
_HOSTS, _FREE, _STARTS, _ROUNDS = 20, 6, 8, 3
# From the first start of one round to that of the next.
_ROUND = builders.seconds(_STARTS + 8)
_DAY = builders.hours(24)
# How much later than without waiting leases a start or an end may be.
_LATE_SECONDS = 1


@pytest.fixture
def calls(conf, database):
    """A client of a manager that works by itself and checks the queue very often."""
    conf.set_override('hosts', _HOSTS, group='simulated')
    conf.set_override('wait_look_seconds', 5, group='acquire')
    conf.clear_override('processor_share', group='acquire')
    conf.set_override('waiting_per_project', 0, group='acquire')
    url = database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    running = service.Manager(conf, serve_rpc=False)
    running.start()
    yield client.ManagerClient(endpoint.InProcess(running.endpoint))
    running.stop()


def _now():
    return datetime.datetime.now(datetime.UTC)


def _create(calls, name, *reservations, **fields):
    return calls.create_lease(builders.a_member(), name,
                              builders.a_lease(*reservations, name=name, **fields))


def _wait(calls, name, *reservations):
    lease = _create(calls, name, *reservations, duration_seconds=3600,
                    acquire=records.AcquireRequest('wait', not_after=_now() + _DAY))
    assert lease.state == lifecycle.ACQUIRING


def _all_wait(calls):
    """Make all leases wait; returns how many seconds that took."""
    began = time.monotonic()
    piece = builders.instances(disk_gb=100)
    for number in range(_LARGE):
        _wait(calls, f'pieces-{number}', *[piece] * 100)
    for number in range(_WAITING - _LARGE):
        _wait(calls, f'waiting-{number}', builders.hosts(_FREE + 1 + number % 10))
    return time.monotonic() - began


def _book(calls, name, first):
    """Book leases that start second by second, each on a host that was free for some time."""
    return [_create(
        calls, f'{name}-{number}', builders.hosts(criteria=(
            f'["=", "$hypervisor_hostname", "compute-{_HOSTS - number % _FREE}"]')),
        start=first + builders.seconds(number), end=first + builders.seconds(number + 3))
        for number in range(_STARTS)]


def _lateness(calls, leases):
    """Wait until all are over; returns how many seconds late each start and each end was."""
    found = []
    for lease in leases:
        left = max(0, (lease.end - _now()).total_seconds())
        waiting.until(functools.partial(_is_over, calls, lease), f'{lease.name} does not end.',
                      left + waiting.SECONDS)
        at = {line.what: line.at for line in calls.lease_history(builders.a_member(), lease.id)}
        assert event_kinds.START in at, f'{lease.name} was never started.'
        found += [(at[event_kinds.START] - lease.start).total_seconds(),
                  (at[event_kinds.END] - lease.end).total_seconds()]
    return found


def _is_over(calls, lease):
    return calls.get_lease(builders.a_member(), lease.id).state == lifecycle.TERMINATED


def _processor_share(since):
    """Return the share of a processor that this process has used since that pair of moments."""
    return (time.process_time() - since[0]) / (time.monotonic() - since[1])


def test_starts_and_ends_are_on_time_beside_leases_that_wait(calls, figures):
    for number in range(1, _HOSTS + 1):
        calls.create_resource(builders.an_admin(), 'host', f'compute-{number}', {})
    _create(calls, 'long', builders.hosts(_HOSTS - _FREE), end=_now() + _DAY)
    began = time.monotonic()
    booked = _book(calls, 'alone', _now() + builders.seconds(10))
    # The leases of all rounds are booked before any lease waits and has hosts held back. So the
    # first start must lie behind the moment at which all wait: that takes a few times as long.
    lead = builders.seconds(30 + 6 * (time.monotonic() - began) / _STARTS * _WAITING)
    alone = max(_lateness(calls, booked))
    first = _now() + lead
    rounds = [_book(calls, f'beside-{number}', first + number * _ROUND)
              for number in range(_ROUNDS)]
    took = _all_wait(calls)
    assert _now() < first, f'It took too long until all waited: {took:.0f} s.'
    seen = []
    for booked in rounds:
        since = time.process_time(), time.monotonic()
        seen.append(max(_lateness(calls, booked)))
        share = _processor_share(since)
        if seen[-1] <= alone + _LATE_SECONDS:
            break
    figures(f'starts and ends late by at most {alone:.2f} s alone; beside {_WAITING} leases that '
            f'wait, by at most {", ".join(f"{each:.2f}" for each in seen)} s, with '
            f'{share:.0%} of a processor for everything')
    assert min(seen) <= alone + _LATE_SECONDS
