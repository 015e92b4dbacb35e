# SPDX-License-Identifier: Apache-2.0
"""Two plans are made at a time, two may wait, and further ones are refused with a pause."""
import threading

import pytest
from support import builders
from support import waiting

from climate import errors
from climate.domain import forecast
from climate.domain import what_if
from climate.manager.planning import plan_turns

NOON, hours = builders.NOON, builders.hours


def test_one_more_than_may_work_and_wait_is_refused_and_all_others_get_their_turn():
    shared, over, refused, served = plan_turns.PlanTurns(), threading.Event(), threading.Event(), []

    def ask():
        try:
            with shared.taken():
                served.append(None)
                over.wait(waiting.SECONDS)
        except errors.PlansBusy:
            refused.set()
    places = plan_turns.AT_ONCE + plan_turns.WAITING
    threads = [threading.Thread(target=ask) for _ in range(places + 1)]
    for each in threads:
        each.start()
    assert refused.wait(waiting.SECONDS)
    assert len(served) <= plan_turns.AT_ONCE
    over.set()
    for each in threads:
        each.join(waiting.SECONDS)
    assert len(served) == places
    with shared.taken():
        pass


@pytest.fixture
def busy(conf, database, clock, monkeypatch):
    monkeypatch.setattr(plan_turns, 'AT_ONCE', 0)
    monkeypatch.setattr(plan_turns, 'WAITING', 0)
    return builders.Manager(conf, database, clock)


def test_a_busy_manager_says_so_over_rest(conf, busy):
    api = builders.Api(conf, busy)
    for answer in (api.post('/v1/what-if', {}, token=builders.ADMIN, version='1.1'),
                   api.get('/v1/forecast', token=builders.ADMIN, version='1.1')):
        assert answer.status_int == 503 and answer.json['error_name'] == 'plans_busy', answer.body
        assert answer.headers['Retry-After'] == '5'


def test_plans_do_not_delay_who_is_refused_a_lease(busy):
    with pytest.raises(errors.PlansBusy):
        busy.client.what_if(builders.an_admin(),
                            what_if.WhatIfQuestion('host', NOON, NOON + hours(1)))
    with pytest.raises(errors.PlansBusy):
        busy.client.forecast(builders.an_admin(), forecast.ForecastQuery('host'))
    busy.enrol(1)
    with pytest.raises(errors.NotEnough):
        busy.book(builders.hosts(2))
