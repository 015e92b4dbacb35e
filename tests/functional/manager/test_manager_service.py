# SPDX-License-Identifier: Apache-2.0
"""The process of a manager that cannot start waits and tries again; it does not end."""
import logging
import socket
import threading

from oslo_messaging import conffixture
from oslo_service import opts
import pytest
from support import waiting

from climate.cmd import manager_service
from climate.db import managers


@pytest.fixture
def blocked(conf, database):
    """A ManagerService and the socket that keeps it from starting."""
    conf.set_override('connection', database.engine.url.render_as_string(hide_password=False),
                      group='database')
    conf.register_opts([], group='oslo_messaging_notifications')
    opts.register_service_opts(conf)
    with (socket.create_server(('127.0.0.1', 0)) as other,
          conffixture.ConfFixture(conf, transport_url='fake:/')):
        conf.set_override('metrics_port', other.getsockname()[1], group='manager')
        yield manager_service.ManagerService(conf, pause_seconds=0.01), other


def _listed(database):
    with database.reader() as connection:
        return managers.every(connection)


def test_a_manager_whose_port_is_taken_is_stopped_at_once_and_in_no_list(blocked, database,
                                                                         caplog):
    service, _other = blocked
    caplog.set_level(logging.ERROR)
    thread = threading.Thread(target=service.start)
    thread.start()
    waiting.until(lambda: 'cannot start' in caplog.text)
    assert _listed(database) == []
    service.stop()
    thread.join(waiting.SECONDS)
    assert not thread.is_alive()
    assert caplog.text.count('cannot start') == 1


def test_a_manager_starts_when_its_port_is_free_again(blocked, database, caplog):
    service, other = blocked
    thread = threading.Thread(target=service.start)
    thread.start()
    try:
        waiting.until(lambda: 'cannot start' in caplog.text)
        other.close()
        waiting.until(lambda: _listed(database))
    finally:
        service.stop()
        thread.join(waiting.SECONDS)
    assert _listed(database) == []
