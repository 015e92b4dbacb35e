# SPDX-License-Identifier: Apache-2.0
"""climate-api and climate-console obey SIGHUP, SIGTERM and SIGINT."""
import pathlib
import signal
import sys

import pytest
from support import builders
from support import programs
from support import waiting

pytestmark = pytest.mark.proof

BIN = pathlib.Path(sys.executable).parent
CONF = """
[DEFAULT]
transport_url = kombu+memory:////
debug = {debug}
[api]
auth_strategy = noauth
port = {port}
max_limit = {limit}
[console]
port = {port}
"""


@pytest.mark.parametrize('program', ['climate-api', 'climate-console'])
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_sighup_reloads_and_the_other_signals_end_the_program(tmp_path, program, number):
    port, config, log = builders.a_free_port(), tmp_path / 'climate.conf', tmp_path / 'log'

    def logs(text):
        waiting.until(lambda: text in log.read_text(), lambda: log.read_text())

    config.write_text(CONF.format(port=port, debug=False, limit=1000))
    with programs.listening(BIN / program, '--config-file', config, port=port,
                            log=log) as process:
        config.write_text('[DEFAULT]\ndebug = maybe\n')
        process.send_signal(signal.SIGHUP)
        logs(f'{program}: SIGHUP: the configuration stays as it was: [DEFAULT] debug = "maybe"')
        config.write_text(CONF.format(port=port + 1, debug=True, limit=10))
        process.send_signal(signal.SIGHUP)
        logs(f'{program}: SIGHUP: 2 options have changed')
        process.send_signal(number)
        assert process.wait(60) == 0
    text = log.read_text()
    section = program.partition('-')[2]
    assert f'Ignoring change to immutable option {section}.port' in text
    assert 'Option api.max_limit changed from [1000] to [10]' in text
    assert f'{program}: {number.name}; it finishes the requests of' in text
    assert f'{program}: stopped' in text
    assert 'Traceback' not in text
