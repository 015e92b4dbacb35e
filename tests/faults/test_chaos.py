# SPDX-License-Identifier: Apache-2.0
"""Real managers, APIs, broker and database may all die: no lease is lost or doubled.

CLIMATE_CHAOS_SECONDS sets how long faults are injected in each run, CLIMATE_CHAOS_CLIENTS the
number of clients, and CLIMATE_CHAOS_SEED the seed of all chances. A failed run prints its seed.
"""
import dataclasses
import os
import signal

from chaos import clients
from chaos import plan
from chaos import run
from chaos import stage as stages
import pytest

pytestmark = pytest.mark.faults

_SECONDS = float(os.environ.get('CLIMATE_CHAOS_SECONDS') or 90)
_NETWORK_SHARE = 1 / 3


@pytest.fixture(autouse=True)
def _ended_in_order():
    """Stop the processes of a run that ends by a signal."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)


def _play(folder, database, lanes, seconds, figures):
    made = plan.make(folder, database, lanes, seconds)
    print(f'chaos on {database}, seed {made.seed}, in {folder}', flush=True)
    outcome = run.play(made)
    figures(outcome.table)
    assert outcome.wrong == []


@pytest.mark.parametrize('database', ['postgresql', 'mariadb'])
def test_no_allocation_is_lost_or_given_twice_whatever_dies(tmp_path, figures, database):
    _play(tmp_path, database, ['Daemons', 'Servers', 'Lines'], _SECONDS, figures)


@pytest.mark.parametrize('database', ['postgresql', 'mariadb'])
def test_managers_that_are_cut_off_lose_their_work_and_nothing_else(tmp_path, figures, database):
    _play(tmp_path, database, ['Lines'], _SECONDS * _NETWORK_SHARE, figures)


def test_an_api_whose_broker_is_gone_says_so_and_goes_on_when_it_is_back(tmp_path):
    made = dataclasses.replace(plan.make(tmp_path, 'postgresql', [], 0), managers=1, apis=1)
    stage = stages.Stage(made)
    lease = {'name': 'one', 'duration': '5s', 'reservations': [
        {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}
    try:
        stage.up()
        door = clients.Door(stage.urls, made.chances('door'), 30)
        stage.broker.kill()
        codes = [door.ask('POST', '/leases', 'demo', lease, 'key')[0] for _ in range(3)]
        # One that has never met the broker, too.
        stage.apis['api1'].kill()
        stage.apis['api1'].up()
        stage.wait_until_answering()
        codes += [door.ask('POST', '/leases', 'demo', lease, 'key')[0] for _ in range(3)]
        stage.broker.up()
        stage.wait_until_well()
        assert set(codes) <= {503, 504}
        assert door.ask('POST', '/leases', 'demo', lease, 'key')[0] == 201
    finally:
        stage.down()
