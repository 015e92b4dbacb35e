# SPDX-License-Identifier: Apache-2.0
"""A manager that stops loses no call that RabbitMQ has delivered to it."""
from concurrent import futures
import threading

import oslo_messaging as messaging
from oslo_messaging import conffixture
import pytest

from benchmarks import broker
from climate import context
from climate.rpc import servers
from climate.rpc import transport

pytestmark = pytest.mark.faults


class _Endpoint:
    target = messaging.Target(version=transport.VERSION)

    def __init__(self, name):
        self._name = name

    def ping(self, context):
        return self._name


@pytest.fixture
def bus_conf(conf, tmp_path):
    with broker.running(tmp_path) as url, conffixture.ConfFixture(conf, transport_url=url):
        yield conf


def test_calls_that_arrive_during_a_stop_are_answered_by_the_other_manager(bus_conf):
    stopped, other = (servers.serve(bus_conf, name, _Endpoint(name)) for name in ('one', 'two'))
    connected = transport.connect(bus_conf)
    client = messaging.get_rpc_client(
        connected, transport.target(bus_conf),
        serializer=transport.RpcSerializer()).prepare(timeout=60)
    asked = context.RequestContext.internal()
    before = {client.call(asked, 'ping') for _ in range(4)}
    with futures.ThreadPoolExecutor(20) as pool:
        calls = [pool.submit(client.call, asked, 'ping') for _ in range(10)]
        servers.stop(stopped)
        later = [pool.submit(client.call, asked, 'ping') for _ in range(10)]
        futures.wait(calls + later, 30)
        stopped.wait()
        done = [call.done() for call in calls + later]
        answers = {call.result() for call in calls}, {call.result() for call in later}
    other.stop()
    other.wait()
    for each in (connected, stopped.transport, other.transport):
        each.cleanup()
    assert before == {'one', 'two'}
    assert all(done)
    assert answers[0] <= {'one', 'two'}
    assert answers[1] == {'two'}


def test_a_server_whose_broker_is_gone_stops(conf, tmp_path):
    with broker.running(tmp_path) as url, conffixture.ConfFixture(conf, transport_url=url):
        server = servers.serve(conf, 'one', _Endpoint('one'))
    stopping = threading.Thread(target=lambda: (servers.stop(server), server.wait()), daemon=True)
    stopping.start()
    stopping.join(15)
    assert not stopping.is_alive()
    server.transport.cleanup()
