# SPDX-License-Identifier: Apache-2.0
"""Each request ends in a defined way, whatever a user sends and Climate answers."""
import json
import re
import time

import booting
import hypothesis
from hypothesis import strategies as st
import placing
import pytest
from support import nova_standin
import whatever

from climate.nova import lease_hints

SETTINGS = hypothesis.settings(
    max_examples=60,
    suppress_health_check=list(hypothesis.HealthCheck))
FIELDS = (*lease_hints.KEYS, 'reserved: ', 'lease_params: ', 'lease_params.', 'server.', 'body: ')
CALLS = ('POST', 'PUT', 'DELETE')


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Nobody waits between two attempts to connect."""
    monkeypatch.setattr(time, 'sleep', lambda seconds: None)


@pytest.fixture
def answers(requests_mock, user, service):
    """{method: what comes in place of Climate's answer}; Climate answers where there is none."""
    found = {}
    for method, path in zip(CALLS, ('/leases', '/reservations/r1', '/leases/l1'), strict=True):
        requests_mock.register_uri(
            method, booting.URL + path,
            text=lambda request, context: whatever.given(
                found[request.method])(request, context),
            additional_matcher=lambda request: request.method in found)
    return found


def asks_for_climate(raw):
    """Return whether these bytes have a hint of Climate's, or hints that cannot be read."""
    try:
        body = json.loads(raw.decode())
    except (ValueError, RecursionError):
        return False
    if not isinstance(body, dict) or not isinstance(body.get('server'), dict):
        return False
    parts = [body[key] for key in lease_hints.KEYS if key in body]
    return any(not isinstance(part, dict) or 'reserved' in part or 'lease_params' in part
               for part in parts)


def start_anew(nova, service, requests_mock):
    nova.bodies.clear()
    service.log.clear()
    requests_mock.reset_mock()


def test_a_request_without_hints_of_climate_passes_byte_for_byte(
        user, nova, service, requests_mock):
    @SETTINGS
    @hypothesis.given(whatever.RAW)
    def every(raw):
        hypothesis.assume(not asks_for_climate(raw))
        start_anew(nova, service, requests_mock)
        assert user.sends(raw) == nova.says
        assert (nova.bodies, service.asked) == ([raw], [])

    every()


@pytest.mark.proof
def test_bad_hints_are_refused_with_their_name_others_get_a_lease(
        user, nova, service, requests_mock):
    @SETTINGS
    @hypothesis.given(whatever.RAW)
    def every(raw):
        hypothesis.assume(asks_for_climate(raw))
        start_anew(nova, service, requests_mock)
        answer = user.sends(raw)
        if user.status == 202:
            if 'lease' in service.log:
                assert nova.asked['server']['metadata']['climate:lease_id'] == 'l1'
            assert not asks_for_climate(nova.bodies[0])
            return
        status, name, message = booting.told(user, answer)
        assert (status, name, nova.bodies, service.asked) == (400, 'badRequest', [], [])
        assert message.startswith(FIELDS)

    every()


def test_a_request_with_a_default_lease_gets_it_or_an_error(
        make, nova, service, requests_mock):
    user = make(default_lease=True)

    @SETTINGS
    @hypothesis.given(whatever.RAW)
    def every(raw):
        start_anew(nova, service, requests_mock)
        answer = user.sends(raw)
        if 'lease' in service.log:
            assert nova.asked['server']['metadata']['climate:lease_id'] == 'l1'
        elif not nova.bodies:
            status, name, message = booting.told(user, answer)
            assert (status, name, service.asked) == (400, 'badRequest', [])
            assert message.startswith(FIELDS)
        elif not asks_for_climate(raw):
            assert nova.bodies == [raw]

    every()


def test_any_answer_of_climate_leads_to_a_server_or_an_error(
        user, nova, service, requests_mock, answers, caplog):
    @SETTINGS
    @hypothesis.given(whatever.WELL_ASKED, st.dictionaries(
        st.sampled_from(CALLS), whatever.OF_LEASES, min_size=1), st.sampled_from([202, 400, 500]))
    def every(raw, given, nova_status):
        start_anew(nova, service, requests_mock)
        answers.clear()
        answers.update(given)
        nova.status = f'{nova_status} As told'
        answer = user.sends(raw)
        assert all(isinstance(value, str) and value.isprintable()
                   for value in user.headers.values())
        if nova.bodies:
            assert (len(nova.bodies), answer, user.status) == (1, nova.says, nova_status)
            assert not asks_for_climate(nova.bodies[0])
            last = service.asked[-1].method
            assert last == ('PUT' if nova_status == 202 else 'DELETE')
        else:
            assert booting.told(user, answer)[2]

    every()
    assert 'user-token' not in caplog.text


@pytest.fixture
def forgetful(climate, login, write):
    """The scheduler filter, which keeps no answer and no silence."""
    with nova_standin.scheduler(write(login | {'cache_seconds': 0})) as (filter_class, _conf):
        yield filter_class()


def test_whatever_climate_answers_the_filter_lets_nobody_in_for_nothing(
        forgetful, requests_mock, caplog):
    given = {}
    requests_mock.get(re.compile(f'{re.escape(booting.URL)}/(reservations|servers)/[^/]+/hosts'),
                      text=lambda request, context: whatever.given(
                          given['answer'])(request, context))

    @SETTINGS
    @hypothesis.given(whatever.OF_HOSTS, st.just('r1') | whatever.ANYTHING,
                      st.sampled_from([None, 'mine', 'free', 'plain']))
    def every(answer, hint, demanded):
        given['answer'] = answer
        wanted = placing.request(
            {'reservation': hint}, instance_uuid='s1',
            requested_destination=demanded and nova_standin.Destination(demanded))
        passed = placing.passed(forgetful, wanted)
        assert 'free' not in passed, 'no answer names it'
        if not isinstance(answer, tuple) or answer[0] != 200:
            assert passed == (['plain'] if hint in (None, [None]) else [])

    every()
    assert 'a-token' not in caplog.text
