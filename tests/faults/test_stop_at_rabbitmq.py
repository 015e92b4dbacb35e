# SPDX-License-Identifier: Apache-2.0
"""A manager that stops loses no call that RabbitMQ has delivered to it."""
from concurrent import futures

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
    client = messaging.get_rpc_client(
        transport.connect(bus_conf), transport.target(bus_conf),
        serializer=transport.Serializer()).prepare(timeout=60)
    asked = context.RequestContext.internal()
    before = {client.call(asked, 'ping') for _ in range(4)}
    with futures.ThreadPoolExecutor(40) as pool:
        calls = [pool.submit(client.call, asked, 'ping') for _ in range(20)]
        servers.stop(stopped)
        later = [pool.submit(client.call, asked, 'ping') for _ in range(20)]
        futures.wait(calls + later, 30)
        stopped.wait()
        done = [call.done() for call in calls + later]
        answers = {call.result() for call in calls}, {call.result() for call in later}
    other.stop()
    other.wait()
    assert before == {'one', 'two'}
    assert all(done)
    assert answers[0] <= {'one', 'two'}
    assert answers[1] == {'two'}
