# SPDX-License-Identifier: Apache-2.0
"""A bus of notifications that refuses the login is named on one line, if its feature is on."""
import logging

import amqp
from oslo_config import cfg
from oslo_messaging import conffixture
import pytest
from support import builders
from support import refusing_broker

from climate.manager import prerequisites
from climate.manager import service
from climate.rpc import bus
from climate.rpc import servers
from climate.rpc import transport

OWN = ('[oslo_messaging_notifications] transport_url or, if that is empty, [DEFAULT] '
       'transport_url: ')

# Overrides that send notifications to a bus, and the option that the error names.
FEATURES = [
    ({('nova', 'notifications'): True, ('nova', 'notification_transport_url'): 'URL'},
     '[nova] notification_transport_url: '),
    ({('oslo_messaging_notifications', 'driver'): ['messagingv2'],
      ('oslo_messaging_notifications', 'transport_url'): 'URL'},
     OWN),
    ({('nova', 'notifications'): True,
      ('oslo_messaging_notifications', 'transport_url'): 'URL'},
     OWN)]


@pytest.fixture
def bus_conf(conf, database):
    """The configuration with the options of oslo.messaging, and with a bus that is not called."""
    url = database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    with conffixture.ConfFixture(conf, transport_url='fake:/'):
        transport.connect_notifications(conf)  # It registers its options.
        yield conf


def use(conf, feature, port):
    for (group, name), value in feature.items():
        url = f'rabbit://climate:wrong-secret@127.0.0.1:{port}/'
        # The method of the class, because ConfFixture changes calls with this name of an option.
        cfg.ConfigOpts.set_override(conf, name, url if value == 'URL' else value, group=group)


@pytest.mark.parametrize(('feature', 'option'), FEATURES)
def test_a_bus_of_notifications_that_refuses_the_login_ends_the_start(bus_conf, feature, option):
    with refusing_broker.listening() as port:
        use(bus_conf, feature, port)
        with pytest.raises(bus.LoginRefused) as found:
            prerequisites.check(bus_conf)
    assert str(found.value).startswith(f'{option}the login is refused: ')
    assert 'secret' not in str(found.value) and '..' not in str(found.value)


def test_a_bus_of_notifications_that_is_off_is_not_called(bus_conf):
    with refusing_broker.listening() as port:
        use(bus_conf, {('nova', 'notification_transport_url'): 'URL',
                       ('oslo_messaging_notifications', 'transport_url'): 'URL'}, port)
        prerequisites.check(bus_conf)


def test_a_bus_of_notifications_that_is_down_does_not_end_the_start(bus_conf, caplog):
    use(bus_conf, FEATURES[0][0], builders.a_free_port())
    prerequisites.check(bus_conf)
    assert 'The bus does not answer; the manager waits for it: [nova]' in caplog.text


def test_a_running_manager_that_the_bus_refuses_logs_one_line(bus_conf, caplog):
    manager = service.Manager(bus_conf, serve_rpc=False)

    def listen():
        raise amqp.AccessRefused('Login was refused.')
    server = servers.BusServer(listen, '[nova] notification_transport_url')
    with caplog.at_level(logging.ERROR):
        assert not manager._guarded(server.start, 'connect to the bus')
    [line] = caplog.records
    assert (line.levelno, line.exc_info) == (logging.ERROR, None)
    assert '[nova] notification_transport_url: the login is refused: ' in line.getMessage()
