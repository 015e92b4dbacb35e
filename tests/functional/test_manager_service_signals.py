# SPDX-License-Identifier: Apache-2.0
"""climate-manager obeys SIGHUP, SIGTERM and SIGINT."""
import pathlib
import signal
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
transport_url = kombu+memory:////
plugins = {plugins}
debug = {debug}
graceful_shutdown_timeout = 30
[database]
connection = sqlite:///{folder}/climate.sqlite
[cloud]
driver = simulated
[simulated]
state = {folder}/cloud.sqlite
"""


@pytest.fixture
def write(tmp_path):
    """Write the configuration; the path is that of the fixture `manager`."""
    def write(plugins='physical:host', debug=False):
        (tmp_path / 'climate.conf').write_text(CONF.format(
            folder=tmp_path, plugins=plugins, debug=debug))
    return write


@pytest.fixture
def manager(tmp_path, write):
    """A running climate-manager, and a function that waits for a text in its log."""
    write()
    database = engine.Database(f'sqlite:///{tmp_path}/climate.sqlite')
    migrate.upgrade(database)
    database.dispose()
    log = tmp_path / 'log'

    def logs(text, count=1):
        waiting.until(lambda: log.read_text().count(text) >= count, lambda: log.read_text())
        return log.read_text()

    with log.open('wb') as written:
        process = subprocess.Popen([BIN / 'climate-manager', '--config-file',
                                    tmp_path / 'climate.conf'], stdout=written, stderr=written)
    try:
        logs(': ready')
        yield process, logs
    finally:
        process.terminate()
        process.wait(60)


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
