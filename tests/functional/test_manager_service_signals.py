# SPDX-License-Identifier: Apache-2.0
"""climate-manager obeys SIGHUP, SIGTERM and SIGINT."""
import pathlib
import signal
import socket
import subprocess
import sys

import pytest
from support import waiting

from climate.db import engine
from climate.db import migrate

pytestmark = pytest.mark.proof

BIN = pathlib.Path(sys.executable).parent
CONF = """
[DEFAULT]
transport_url = {bus}
plugins = {plugins}
debug = {debug}
graceful_shutdown_timeout = 30
[manager]
backend = {backend}
[database]
connection = sqlite:///{folder}/climate.sqlite
[cloud]
driver = simulated
[simulated]
state = {folder}/cloud.sqlite
"""


@pytest.fixture
def write(tmp_path):
    """Write the configuration; the path is that of the fixture `start`."""
    def write(plugins='physical:host', debug=False, backend='threading', bus='kombu+memory:////'):
        (tmp_path / 'climate.conf').write_text(CONF.format(
            folder=tmp_path, plugins=plugins, debug=debug, backend=backend, bus=bus))
    return write


@pytest.fixture
def start(tmp_path, write):
    """callable(text): start climate-manager and wait for a text in its log.

    It returns the process and a function that waits for a text.
    """
    database = engine.Database(f'sqlite:///{tmp_path}/climate.sqlite')
    migrate.upgrade(database)
    database.dispose()
    log = tmp_path / 'log'
    processes = []

    def logs(text, count=1):
        waiting.until(lambda: log.read_text().count(text) >= count, lambda: log.read_text())
        return log.read_text()

    def start(text=': ready'):
        with log.open('wb') as written:
            # Not in the foreground of a terminal, where SIGHUP ends a program on eventlet.
            processes.append(subprocess.Popen(
                [BIN / 'climate-manager', '--config-file', tmp_path / 'climate.conf'],
                stdout=written, stderr=written, start_new_session=True))
        logs(text)
        return processes[0], logs

    yield start
    for process in processes:
        process.terminate()
        process.wait(60)


@pytest.fixture
def manager(start, write):
    """A running climate-manager, and a function that waits for a text in its log."""
    write()
    return start()


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_sigterm_and_sigint_let_it_finish(manager, number):
    process, logs = manager
    process.send_signal(number)
    assert process.wait(60) == 0
    text = logs('stopped')
    assert 'Traceback' not in text


def test_sighup_starts_a_worker_with_the_new_configuration(manager, write):
    process, logs = manager
    write(debug=True)
    process.send_signal(signal.SIGHUP)
    logs('the configuration was read again')
    assert 'DEBUG' in logs(': ready', 2)


@pytest.mark.parametrize('wrong,said', [
    ({'debug': 'maybe'}, '[DEFAULT] debug = "maybe"'),
    ({'plugins': 'physical:horse'}, 'physical:horse')])
def test_sighup_keeps_the_former_configuration_if_the_new_one_cannot_be_used(
        manager, write, wrong, said):
    process, logs = manager
    write(**wrong)
    process.send_signal(signal.SIGHUP)
    text = logs(': ready', 2)
    assert 'SIGHUP: the configuration stays as it was: ' in text
    assert said in text
    assert 'DEBUG' not in text
    assert 'Traceback' not in text


def test_a_manager_stops_and_carries_out_events_although_the_bus_does_not_answer(start, write):
    with socket.create_server(('127.0.0.1', 0)) as closed:
        port = closed.getsockname()[1]
    write(bus=f'rabbit://climate:a-password@127.0.0.1:{port}/')
    process, logs = start('not ready; it retries failed events until all services answer: '
                          'The message bus is not available: no connection')
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert 'Traceback' not in logs('stopped')


@pytest.fixture
def on_eventlet(start, write):
    """A running climate-manager on eventlet, and a function that waits for a text in its log."""
    pytest.importorskip('eventlet')
    write(backend='eventlet')
    return start()


def test_on_eventlet_sighup_starts_the_manager_again_with_the_new_configuration(
        on_eventlet, write):
    process, logs = on_eventlet
    write(backend='eventlet', debug=True)
    process.send_signal(signal.SIGHUP)
    logs(': ready', 2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert logs(': stopped', 2).count('version') >= 2


@pytest.mark.parametrize('number,code', [(signal.SIGTERM, 0), (signal.SIGINT, 1)])
def test_on_eventlet_sigint_ends_the_manager_at_once(on_eventlet, number, code):
    process, logs = on_eventlet
    process.send_signal(number)
    assert process.wait(60) == code
    assert (': stopped' in logs('')) == (number == signal.SIGTERM)
