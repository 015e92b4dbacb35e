# SPDX-License-Identifier: Apache-2.0
"""Webhooks: signed, to public addresses only, without redirects, within a time."""
import hashlib
import hmac
import ipaddress
import json
import socket
import threading

import pytest
from support import receivers
from support import waiting

from climate import errors
from climate.notifiers import base
from climate.notifiers import webhook
from climate.notifiers import webhook_connections

LOOPBACK = [ipaddress.ip_network('127.0.0.0/8')]
BODY = {'id': 'n1', 'kind': 'start', 'headline': 'Lease é has started'}


@pytest.fixture
def server(tmp_path, conf):
    context, authority = receivers.certificate(tmp_path, receivers.NAME)
    conf.set_override('ca_file', authority, group='webhook')
    conf.set_override('allowed_networks', LOOPBACK, group='webhook')
    with receivers.hooks(context) as found:
        yield found


class Names:
    """Looks names up: each answer is a list of addresses, the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host, port, type):
        self.asked += 1
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [(socket.AF_INET6 if ':' in each else socket.AF_INET, type, 6, '', (each, port))
                for each in found]


def a_message(url):
    return base.Message('n1', url, 'the-key', BODY)


def test_a_notification_is_posted_with_its_id_and_a_signature_of_time_and_body(conf, server):
    webhook.Webhook(conf, Names(['127.0.0.1']), lambda: 1_900_000_000.5).send(
        a_message(server.url))
    [(headers, body)] = server.requests
    assert json.loads(body) == BODY
    assert headers['Host'] == f'{receivers.NAME}:{server.port}'
    assert headers['Climate-Notification-Id'] == 'n1'
    assert headers['Climate-Timestamp'] == '1900000000'
    wanted = hmac.new(b'the-key', b'1900000000.' + body, hashlib.sha256).hexdigest()
    assert headers['Climate-Signature'] == f'v1={wanted}'


def test_a_name_that_leads_to_loopback_is_not_called(conf, server):
    conf.set_override('allowed_networks', [], group='webhook')
    with pytest.raises(base.Undelivered, match='only public addresses'):
        webhook.Webhook(conf, Names(['127.0.0.1'])).send(a_message(server.url))
    assert server.requests == []


def test_a_name_that_changes_its_address_after_the_check_is_called_at_the_checked_one(
        conf, server):
    conf.set_override('allowed_networks', [ipaddress.ip_network('127.0.0.1/32')], group='webhook')
    names = Names(['127.0.0.1'], ['127.0.0.2'])
    webhook.Webhook(conf, names).send(a_message(server.url))
    assert names.asked == 1
    assert len(server.requests) == 1
    with pytest.raises(base.Undelivered, match='only public addresses'):
        webhook.Webhook(conf, names).send(a_message(server.url))
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed(conf, server):
    server.statuses = [302, 307]
    for status in (302, 307):
        with pytest.raises(base.Undelivered, match=f'answered {status}: redirects are not'):
            webhook.Webhook(conf, Names(['127.0.0.1'])).send(a_message(server.url))
    assert len(server.requests) == 2


def test_a_certificate_for_another_name_is_not_accepted(conf, server):
    url = f'https://other.example:{server.port}/'
    with pytest.raises(base.Undelivered, match='certificate of the receiver is not accepted'):
        webhook.Webhook(conf, Names(['127.0.0.1'])).send(a_message(url))
    assert server.requests == []


@pytest.mark.parametrize(('status', 'permanent'), [(500, False), (404, False), (410, True)])
def test_an_answer_that_is_no_success_is_a_failure(conf, server, status, permanent):
    server.statuses = [status]
    with pytest.raises(base.Undelivered) as raised:
        webhook.Webhook(conf, Names(['127.0.0.1'])).send(a_message(server.url))
    assert (str(raised.value), raised.value.permanent) == (
        f'The receiver answered {status}.', permanent)


@pytest.mark.proof
def test_a_receiver_that_does_not_answer_costs_the_time_limit(conf, server):
    conf.set_override('timeout_seconds', 1, group='webhook')
    given_up = threading.Event()
    server.before = lambda: given_up.wait(waiting.SECONDS)
    with pytest.raises(base.Undelivered, match='cannot be reached'):
        webhook.Webhook(conf, Names(['127.0.0.1'])).send(a_message(server.url))
    given_up.set()


@pytest.mark.parametrize('address', [
    'https://127.0.0.1/', 'https://localhost/x', 'https://a.localhost/', 'https://2130706433/',
    'https://0177.0.0.1/', 'https://0x7f.1/', 'https://127.1/', 'https://[::1]/',
    'https://[::ffff:127.0.0.1]/', 'https://[64:ff9b::7f00:1]/', 'https://10.1.2.3/',
    'https://169.254.169.254/latest', 'https://100.100.100.200/', 'https://[fd00:ec2::254]/',
    'https://224.0.0.1/', 'https://0.0.0.0/', 'https://[2002:7f00:1::]/', 'https://localhost./',
    'https://a.LocalHost./', 'https://127.0.0.1./', 'https://0x7f000001./',
    # The metadata service of a cloud, a mapped form of it, and networks that older tables lack.
    'https://192.0.0.192/', 'https://[::ffff:192.0.0.192]/', 'https://[fec0::1]/',
    'https://[64:ff9b:1:a00:1:100:808:808]/', 'https://[2001:4860::5efe:10.0.0.1]/',
    'https://[3fff::1]/'])
def test_an_address_that_is_not_public_is_refused_when_it_is_given(conf, address):
    with pytest.raises(errors.BadField) as raised:
        webhook.Webhook(conf).checked(address)
    assert raised.value.kwargs['field'] == 'address'
    assert 'only public addresses are called' in raised.value.message


@pytest.mark.parametrize('address', [
    'http://example.org/', 'ftp://example.org/', 'https://', 'https://u:p@example.org/',
    'https://example.org/a b', 'https://example.org/\r\nX: y', 'https://exämple.org/',
    'https://example.org:99999/', 'https://example.org/#x', 'https://[::1/', 'x',
    'https://..../', 'https://-/',
    'https://a..b/', f'https://{"a" * 64}.org/', f'https://{"a." * 127}org/',
    'https://exa%6dple.org/', 'https://a\\b/'])
def test_an_address_without_https_is_refused(conf, address):
    with pytest.raises(errors.BadField):
        webhook.Webhook(conf).checked(address)


def test_a_public_address_is_accepted(conf):
    assert webhook.Webhook(conf).checked('https://example.org/a?b=c') == (
        'https://example.org/a?b=c')


def test_notifications_of_a_session_share_a_connection_that_was_checked_once(conf, server):
    server.keeps_open = True
    names = Names(['127.0.0.1'])
    with webhook.Webhook(conf, names).session() as send:
        for _ in range(3):
            send(a_message(server.url))
    assert len(server.requests) == 3
    assert (len(set(server.clients)), names.asked) == (1, 1)


def test_a_connection_that_the_receiver_closed_is_replaced_after_another_check(conf, server):
    names = Names(['127.0.0.1'], ['127.0.0.1'], ['10.1.2.3'])
    hook = webhook.Webhook(conf, names)
    with hook.session() as send:
        server.keeps_open = True
        send(a_message(server.url))
        # The receiver ends the connection after the next request, without an answer.
        server.before = lambda: _close_once(server)
        send(a_message(server.url))
        assert (len(server.requests), len(set(server.clients)), names.asked) == (3, 2, 2)
        server.statuses = [500]
        with pytest.raises(base.Undelivered, match='answered 500'):
            send(a_message(server.url))
        # After a failure, the name is looked up again.
        with pytest.raises(base.Undelivered, match='only public addresses'):
            send(a_message(server.url))
    assert len(server.requests) == 4


def _close_once(server):
    server.before = lambda: None
    raise ConnectionAbortedError('closed')


class _Connection:
    """A connection of a pool; it knows whether it was closed."""

    closed = False

    def close(self):
        self.closed = True


def test_a_connection_is_used_for_a_minute_at_most_and_closed_after_ten_seconds_without_use():
    seconds = [0]
    pool = webhook_connections.OpenConnections(lambda: seconds[0])
    for used_at, opened_at, is_kept in ((9, 0, True), (11, 0, False), (9, -52, False)):
        connection, seconds[0] = _Connection(), 0
        pool.put('key', connection, opened_at)
        seconds[0] = used_at
        assert pool.take('another') is None
        assert pool.take('key') == ((connection, opened_at) if is_kept else None)
        assert connection.closed != is_kept


def test_a_pool_keeps_the_64_connections_that_were_used_last():
    pool = webhook_connections.OpenConnections(lambda: 0)
    connections = [_Connection() for _ in range(66)]
    for connection in connections:
        pool.put('key', connection, 0)
    assert [connection.closed for connection in connections] == [True] * 2 + [False] * 64
    pool.close()
    assert all(connection.closed for connection in connections)
