# SPDX-License-Identifier: Apache-2.0
"""Managers, APIs and consoles restart one after the other under load, and no request is lost.

CLIMATE_RESTART_RATE sets how many requests are sent per second. Without it the test is skipped,
because it measures time, and so wants the machine for itself.
"""
import contextlib
import dataclasses
import os
import signal

from chaos import consoles
from chaos import plan
from chaos import recorded
from chaos import stage as stages
import pytest
from support import balanced
from support import waiting

from climate.domain import event_kinds
from climate.domain import lifecycle

_RATE = int(os.environ.get('CLIMATE_RESTART_RATE') or 0)
_LATE_SECONDS = 5

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not _RATE, reason='CLIMATE_RESTART_RATE is not set'),
    pytest.mark.skipif(bool(balanced.missing()), reason='nginx or memcached is not installed')]


@pytest.fixture
def stage(tmp_path):
    """Two managers and two APIs on MariaDB and RabbitMQ, with a host for each lease."""
    # Stop the processes of a run that ends by a signal.
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


def restartable(stage, consoles):
    """Return all programs of Climate, as Restartables."""
    health = dict(zip(stage.apis, stage.urls, strict=True)) | {
        name: f'http://127.0.0.1:{port}' for name, port in consoles.ports.items()}
    return [balanced.Restartable(
        name, program.signal, program.has_ended, program.up, stage.plan.place.log / f'{name}.log',
        f'{health[name]}/healthcheck' if name in health else None)
        for name, program in {**stage.managers, **stage.apis, **consoles.programs}.items()]


def test_a_rolling_restart_loses_no_request_and_makes_nothing_late(stage, figures):
    with contextlib.ExitStack() as stack:
        front = consoles.Consoles(stage, stack)
        programs = restartable(stage, front)
        load = balanced.Load(front.client, _RATE, _LATE_SECONDS)
        with load.running():
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                for program in programs:
                    program.restart(number)
        waiting.until(lambda: not recorded.read(stage.url).unfinished, 'Leases do not end.')
        lateness = [(event['updated_at'] - event['at']).total_seconds()
                    for event in recorded.read(stage.url).events
                    if event['kind'] in (event_kinds.START, event_kinds.END)
                    and event['status'] == lifecycle.EVENT_DONE]
        figures(f'{load.answered} requests, the slowest {load.slowest:.1f} s; {len(lateness)} '
                f'starts and ends, the latest {max(lateness):.1f} s')
        assert load.wrong == []
        assert max(lateness) < _LATE_SECONDS
        assert len(lateness) > 100
        assert [name for program in programs for name in (program.log, program.log.with_suffix(
            '.out')) if 'Traceback' in name.read_text()] == []
