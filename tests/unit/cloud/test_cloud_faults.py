# SPDX-License-Identifier: Apache-2.0
"""Outages and refusals of each service, through its real adapter with canned answers."""
import json
import pathlib
import re
import socketserver
import types

import pytest
import requests
import requests_mock
from support import loopback
from support import thinning
import tenacity

from climate import errors
from climate.cloud import call_guard
from climate.cloud import concurrency
from climate.cloud import models
from climate.cloud import session

STACK = models.Stack(id='s', name='mine', action='CREATE', progress='COMPLETE', reason='')
#: {service in messages: (where its API is, its calls)}.
CALLS = {
    'Nova': ('http://nova/', (
        lambda cloud: cloud.nova.aggregates(), lambda cloud: cloud.nova.delete_server('s'),
        lambda cloud: cloud.servers.shelve('s'), lambda cloud: cloud.flavors.every())),
    'Placement': ('http://placement/', (
        lambda cloud: cloud.placement.traits('h'),
        lambda cloud: cloud.placement.ensure_class('CUSTOM_A'))),
    'Neutron': ('http://neutron:9696/', (
        lambda cloud: cloud.networks.network('n'), lambda cloud: cloud.floating_ips.delete('f'),
        lambda cloud: cloud.segments.delete('n'), lambda cloud: cloud.network_parts.ports('n'))),
    'Cinder': ('http://cinder/', (
        lambda cloud: cloud.volumes.types(), lambda cloud: cloud.volumes.delete('v'),
        lambda cloud: cloud.volumes.create('v', 1, 't', {}))),
    'Heat': ('http://heat/', (
        lambda cloud: cloud.stacks.find('p', 'mine'), lambda cloud: cloud.stacks.preview({
            'name': 'mine', 'template': {}}),
        lambda cloud: cloud.stacks.create({'name': 'mine', 'template': {}}),
        lambda cloud: cloud.stacks.resume('p', STACK),
        lambda cloud: cloud.stacks.delete('p', STACK))),
    'Magnum': ('http://magnum/', (
        lambda cloud: cloud.clusters.cluster('c'), lambda cloud: cloud.clusters.delete('c'),
        lambda cloud: cloud.clusters.create('c', {}))),
    'Glance': ('http://glance/', (
        lambda cloud: cloud.images.made('k', 'p'), lambda cloud: cloud.images.delete('i'))),
    'Keystone': ('http://keystone/', (
        lambda cloud: cloud.keystone.trusts(), lambda cloud: cloud.keystone.delete_trust('t'))),
}
HTML = {'text': '<html>Bad Gateway</html>', 'headers': {'Content-Type': 'text/html'}}
#: Heat while its engine is dead, Nova and Neutron while their bus or their database is.
HEAT_500 = {'status_code': 500, 'json': {'code': 500, 'title': 'Internal Server Error', 'error': {
    'type': 'MessagingTimeout', 'message': 'Timed out waiting for a reply', 'traceback': None}}}
NOVA_500 = {'status_code': 500, 'json': {'computeFault': {
    'code': 500, 'message': "Unexpected API Error. <class 'oslo_messaging.MessagingTimeout'>"}}}
NEUTRON_500 = {'status_code': 500, 'json': {'NeutronError': {
    'type': 'HTTPInternalServerError', 'message': 'Request Failed', 'detail': ''}}}
OWN = {'Heat': HEAT_500, 'Nova': NOVA_500, 'Neutron': NEUTRON_500}
OUTAGES = [{'status_code': 500, 'text': ''},
           *({'status_code': status, **HTML} for status in (408, 429, 502, 503, 504)),
           # Proxies and gateways in front of a service have errors of other forms.
           *({'status_code': 503, 'json': answer} for answer in (
               {'code': 503, 'error': 'down'}, {'error': 'down'}, ['down'], 'down', 503, None)),
           *({'exc': error} for error in (
               requests.ConnectTimeout, requests.ReadTimeout, requests.ConnectionError,
               requests.exceptions.SSLError, requests.exceptions.ChunkedEncodingError))]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(tenacity.nap, 'time', types.SimpleNamespace(sleep=lambda _seconds: None))


def _raised(call, cloud):
    with pytest.raises(errors.CloudError) as raised:
        call(cloud)
    return raised.value


@pytest.mark.parametrize('service', thinning.few(CALLS, 4))
def test_each_answer_of_a_service_that_is_down_is_an_outage(canned, service):
    place, calls = CALLS[service]
    cloud = canned.cloud()
    cloud.log_in()
    for answer in (OWN.get(service, HEAT_500), *OUTAGES):
        canned.http.register_uri(requests_mock.ANY, re.compile(re.escape(place)), **answer)
        for number, call in enumerate(calls):
            error = _raised(call, cloud.as_service())
            found = type(error), error.details['service'], error.status
            assert found == (errors.CloudUnreachable, service, 503), (answer, number, error.message)
            assert service in error.owner_message


def _recorded():
    """Return {(service in messages, answer as text): (the parts that were down, the answer)}."""
    table = json.loads((pathlib.Path(loopback.__file__).parent / 'outage_answers.json').read_text())
    found = {}
    for place, answers in table.items():
        service, part = place.split('/')
        for status, body in answers.values():
            answer = ({'exc': getattr(requests, body)} if status is None
                      else {'status_code': status, 'text': body})
            found.setdefault((service.capitalize(), f'{status} {body}'), (set(), answer))[0].add(
                part)
    return found


def test_the_answers_of_real_services_with_a_stopped_part_count_as_outages(canned):
    cloud = canned.cloud()
    cloud.log_in()
    met = set()
    for (service, text), (parts, answer) in _recorded().items():
        met |= {(service, part) for part in parts}
        place, calls = CALLS[service]
        canned.http.register_uri(requests_mock.ANY, re.compile(re.escape(place)), **answer)
        for each in calls:
            error = _raised(each, cloud.as_service())
            assert type(error) is errors.CloudUnreachable, (service, text, error.message)
            assert error.details['service'] == service
    assert {('Heat', 'heat-engine'), ('Nova', 'nova-scheduler'), ('Cinder', 'cinder-scheduler'),
            ('Neutron', 'database'), ('Heat', 'bus'), ('Magnum', 'apis')} <= met


@pytest.mark.parametrize('service', thinning.few([name for name in CALLS if name != 'Keystone'], 3))
def test_keystone_that_is_down_is_an_outage_of_keystone_for_all_services(canned, service):
    cloud = canned.cloud()
    for answer in OUTAGES:
        canned.http.post(f'{canned.KEYSTONE}/auth/tokens', **answer)
        for identity in (cloud.as_service, lambda: cloud.as_user('t')):
            with pytest.raises(errors.CloudUnreachable, match='Keystone is not available'):
                CALLS[service][1][0](identity())


@pytest.mark.parametrize('service', CALLS)
def test_a_refusal_is_no_outage(canned, service):
    place, calls = CALLS[service]
    cloud = canned.cloud()
    for call in calls:
        # A first call reads which versions there are.
        canned.http.register_uri(requests_mock.ANY, re.compile(f'{re.escape(place)}.*[a-z]'),
                                 status_code=409, json={})
        with pytest.raises(errors.ClimateError):
            call(cloud.as_service())
    for status in (400, 403, 413, 501, 505):
        canned.http.register_uri(requests_mock.ANY, re.compile(f'{re.escape(place)}.*[a-z]'),
                                 status_code=status, json={})
        for call in calls:
            with pytest.raises(errors.ClimateError) as raised:
                call(cloud.as_service())
            assert not isinstance(raised.value, errors.CloudUnreachable), (status, raised.value)


class Silent(socketserver.BaseRequestHandler):
    """Accepts a connection and answers nothing until the other side gives up."""

    def handle(self):
        while self.request.recv(1000):
            pass


def test_a_caller_who_waits_gets_an_answer_in_time_from_a_silent_service(configured):
    server = socketserver.ThreadingTCPServer(('127.0.0.1', 0), Silent)
    server.daemon_threads = True
    with loopback.serving(server) as port:
        calls = session.Sessions(configured('[keystone]\nauth_type = none')).as_service('nova')
        # Without the limit the first call would never end.
        with call_guard.answered_within(0.2):
            for _ in range(3):
                with pytest.raises(Exception, match='timed out'):
                    calls.get(f'http://127.0.0.1:{port}/', authenticated=False)


def test_a_caller_who_waits_does_not_wait_for_a_turn_for_ever():
    turns = concurrency.CallQueue(1, 'Heat')
    with turns, call_guard.answered_within(0.01), pytest.raises(
            errors.CloudUnreachable, match='Heat is not available: too many calls'), turns:
        raise AssertionError('The only turn is taken.')
    assert turns.waiting == 0
