# SPDX-License-Identifier: Apache-2.0
"""During an upgrade, an API of the newer release calls a manager of the earlier one."""
import oslo_messaging as messaging
from oslo_messaging import conffixture
import pytest
from support import builders

from climate import errors
from climate.rpc import bus
from climate.rpc import client
from climate.rpc import servers
from climate.rpc import transport


class _Earlier:
    """An endpoint without some of the methods and arguments of this release."""

    target = messaging.Target(version=transport.VERSION)

    def ping(self, context):
        return {'database': 'ok'}

    def lease_history(self, context, lease_id):
        return []

    def list_resources(self, context, pool, **arguments):
        # As RabbitMQ carries the error for an argument that this method does not have.
        raise messaging.RemoteError(
            'TypeError', "list_resources() got an unexpected keyword argument 'query'")


@pytest.fixture
def calls(conf):
    """The ManagerClient of a manager of the earlier release."""
    with conffixture.ConfFixture(conf, transport_url='fake:/'):
        server = servers.serve(conf, 'earlier', _Earlier())
        connected = bus.Bus(conf)
        try:
            yield client.ManagerClient(connected)
        finally:
            servers.stop(server)
            server.wait()
            for each in (connected._client.transport, server.transport):
                each.cleanup()


@pytest.mark.proof
def test_a_call_that_the_manager_does_not_know_can_be_repeated_later(calls):
    with pytest.raises(errors.ManagerOutdated, match='try again in 5 seconds') as raised:
        calls.get_resources(builders.an_admin(), 'host', [1])
    assert raised.value.status == 503


@pytest.mark.proof
def test_an_argument_that_the_manager_does_not_know_can_be_repeated_later(calls):
    with pytest.raises(errors.ManagerOutdated):
        calls.list_resources(builders.an_admin(), 'host')


@pytest.mark.proof
def test_arguments_with_their_defaults_are_not_sent(calls):
    assert calls.lease_history(builders.an_admin(), 'a', marker=None) == []
