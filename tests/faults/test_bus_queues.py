# SPDX-License-Identifier: Apache-2.0
"""The queues that managers leave on a real RabbitMQ."""
import os
import pathlib
import subprocess

from chaos import servers
import oslo_messaging as messaging
from oslo_messaging import conffixture
import pytest
from support import builders
from support import waiting

from climate import errors
from climate.rpc import bus
from climate.rpc import client
from climate.rpc import servers as rpc_servers
from climate.rpc import transport
from tools.cloud import settings

_RABBITMQ = pathlib.Path('/usr/lib/rabbitmq/bin')
_BIN = settings.CHECKOUT / '.venv' / 'bin'
pytestmark = [pytest.mark.proof, pytest.mark.skipif(
    not (_RABBITMQ / 'rabbitmq-server').exists(), reason='There is no RabbitMQ.')]


class Broker:
    """A RabbitMQ.

    :ivar url: its transport_url.
    """

    def __init__(self, place, ports):
        self._place, self._ports = place, ports
        self._mapper = servers.epmd(place, ports[2])
        self._program, self.url = servers.broker(place, *ports)

    def __enter__(self):
        self._mapper.up()
        self._program.up()
        return self

    def __exit__(self, *_error):
        self._program.kill()
        self._mapper.kill()

    def queues(self):
        """Return {name: arguments} of the queues."""
        port, _, epmd_port = self._ports
        done = subprocess.run(
            [_RABBITMQ / 'rabbitmqctl', '-n', f'chaos{port}@localhost', '--silent', 'list_queues',
             'name', 'arguments'], check=True, capture_output=True, text=True,
            env={**os.environ, 'HOME': str(self._place.data / 'rabbitmq'),
                 'RABBITMQ_CONF_ENV_FILE': '/dev/null', 'ERL_EPMD_PORT': str(epmd_port),
                 'ERL_EPMD_ADDRESS': '127.0.0.1'})
        return dict(line.split('\t') for line in done.stdout.splitlines())


@pytest.fixture
def broker(tmp_path):
    place = settings.Settings(folder=tmp_path / 'broker', venv=tmp_path / 'venv',
                              venv_is_shared=False, climate_venv=settings.CHECKOUT / '.venv')
    place.make_folders()
    with Broker(place, servers.free_ports(3)) as found:
        yield found


def _run_manager(tmp_path, path, stop):
    """Run a manager until it is ready, and stop it by a method of its Popen."""
    log = tmp_path / 'manager.log'
    with log.open('wb') as written:
        process = subprocess.Popen([_BIN / 'climate-manager', '--config-file', path],
                                   stdout=written, stderr=written, process_group=0)
    try:
        waiting.until(lambda: process.poll() is not None or ': ready' in log.read_text())
        assert process.poll() is None, log.read_text()
        stop(process)
        process.wait(waiting.SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def test_ten_starts_of_a_manager_leave_as_many_queues_as_one(broker, tmp_path, migrated):
    (tmp_path / 'climate.sqlite').write_bytes(migrated.read_bytes())
    path = builders.on_files(tmp_path, f'[DEFAULT]\ntransport_url = {broker.url}')
    _run_manager(tmp_path, path, subprocess.Popen.terminate)
    once = broker.queues()
    for _ in range(9):
        _run_manager(tmp_path, path, subprocess.Popen.terminate)
    assert broker.queues() == once
    assert sorted(once) == ['climate.manager', f'climate.manager.{os.uname().nodename}']


def test_queues_of_a_manager_that_dies_expire_unless_the_next_one_uses_them(broker, tmp_path,
                                                                            migrated):
    (tmp_path / 'climate.sqlite').write_bytes(migrated.read_bytes())
    path = builders.on_files(tmp_path, f'[DEFAULT]\ntransport_url = {broker.url}')
    _run_manager(tmp_path, path, lambda process: os.killpg(process.pid, 9))
    left = {name: arguments for name, arguments in broker.queues().items()
            if name not in ('climate.manager', f'climate.manager.{os.uname().nodename}')}
    assert [name.partition('_')[0] for name in left] == ['climate.manager']
    assert all('x-expires' in each for each in left.values())


class _Endpoint:
    target = messaging.Target(version=transport.VERSION)

    def ping(self, context):
        return {'database': 'ok'}


def test_a_call_before_the_first_manager_is_refused_at_once(broker, conf):
    asked = builders.an_admin()
    with conffixture.ConfFixture(conf, transport_url=broker.url):
        connected = bus.Bus(conf)
        calls = client.ManagerClient(connected)
        for _ in range(3):
            with pytest.raises(errors.NoManager):
                calls.ping(asked)
        server = rpc_servers.serve(conf, 'one', _Endpoint())
        try:
            assert calls.ping(asked) == {'database': 'ok'}
        finally:
            rpc_servers.stop(server)
            server.wait()
            for each in (connected._client.transport, server.transport):
                each.cleanup()
