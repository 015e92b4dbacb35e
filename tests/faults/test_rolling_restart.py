# SPDX-License-Identifier: Apache-2.0
"""Managers, APIs and consoles restart one after the other under load, and no request is lost.

CLIMATE_RESTART_RATE sets how many requests are sent per second. Without it the test is skipped,
because it measures time, and so wants the machine for itself.
"""
import contextlib
import dataclasses
import os
import signal

from chaos import balanced
from chaos import plan
from chaos import recorded
from chaos import stage as stages
import pytest
from support import waiting

from climate.domain import event_kinds
from climate.domain import lifecycle
from tools.cloud import processes

_RATE = int(os.environ.get('CLIMATE_RESTART_RATE') or 0)
_LATE_SECONDS = 5

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not _RATE, reason='CLIMATE_RESTART_RATE is not set'),
    pytest.mark.skipif(bool(balanced.missing()), reason='nginx or memcached is not installed')]


@pytest.fixture
def stage(tmp_path):
    """Two managers and two APIs on MariaDB and RabbitMQ, with a host for each lease."""
    # A run that is told to end takes its processes with it.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    made = stages.Stage(dataclasses.replace(
        plan.make(tmp_path, 'mariadb', [], 0), managers=2, apis=2, hosts=60, cuttable=False,
        claim_seconds=30, answer_seconds=60))
    try:
        made.up()
        yield made
    finally:
        made.down()
        signal.signal(signal.SIGTERM, before)


class Rolling:
    """Sends a signal to one program after the other, and waits until each is healthy again."""

    def __init__(self, stage, balance):
        self._stage, self._balance = stage, balance
        self.programs = {**stage.managers, **stage.apis, **balance.consoles}

    def signal(self, number):
        for name, program in self.programs.items():
            ready = ': ready' if name in self._stage.managers else ': SIGHUP: '
            before = self._log(name).count(ready)
            program.signal(number)
            if number != signal.SIGHUP:
                waiting.until(program.has_ended, f'{name} does not end.')
                program.up()
            if number == signal.SIGHUP or name in self._stage.managers:
                waiting.until(lambda name=name, ready=ready, before=before:
                              self._log(name).count(ready) > before, f'{name} is not ready.')
            self._wait_until_it_answers(name)

    def _wait_until_it_answers(self, name):
        if name in self._stage.apis:
            url = self._stage.urls[list(self._stage.apis).index(name)]
            processes.wait_for_answer(self._stage.plan.place, name, f'{url}/healthcheck')
        elif name in self._balance.consoles:
            self._balance.wait_for(name)

    def _log(self, name):
        return (self._stage.plan.place.log / f'{name}.log').read_text()

    def tracebacks(self):
        """Return the names of the programs that wrote a traceback."""
        place = self._stage.plan.place
        return [name for name in self.programs for path in (
            place.log / f'{name}.log', place.log / f'{name}.out')
            if 'Traceback' in path.read_text()]


def test_a_rolling_restart_loses_no_request_and_makes_nothing_late(stage, figures):
    with contextlib.ExitStack() as stack:
        balance = balanced.Balanced(stage, stack)
        rolling = Rolling(stage, balance)
        load = balanced.Load(balance, _RATE, _LATE_SECONDS)
        with load.running():
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                rolling.signal(number)
        waiting.until(lambda: not recorded.read(stage.url).unfinished, 'Leases do not end.')
        found = recorded.read(stage.url)
        lateness = [(event['updated_at'] - event['at']).total_seconds() for event in found.events
                    if event['kind'] in (event_kinds.START, event_kinds.END)
                    and event['status'] == lifecycle.EVENT_DONE]
        figures(f'{load.answered} requests, the slowest {load.slowest:.1f} s; {len(lateness)} '
                f'starts and ends, the latest {max(lateness):.1f} s')
        assert load.wrong == []
        assert max(lateness) < _LATE_SECONDS
        assert len(lateness) > 100
        assert rolling.tracebacks() == []
