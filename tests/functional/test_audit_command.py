# SPDX-License-Identifier: Apache-2.0
"""climate-manager audit as an administrator runs it, in a process of its own."""
import pathlib
import subprocess
import sys

import pytest
from support import builders
from support import programs
from support import waiting

PROGRAM = pathlib.Path(sys.executable).parent / 'climate-manager'


@pytest.fixture
def installation(conf, database, clock, tmp_path):
    """A manager on files; `audit` runs the command on the same."""
    if database.dialect != 'sqlite':
        pytest.skip('The command reads a configuration with a file of SQLite.')
    conf.set_override('state', str(tmp_path / 'cloud.sqlite'), group='simulated')
    found = builders.Manager(conf, database, clock)
    found.enrol(2)
    yield found
    found.cloud.close()


@pytest.fixture
def audit(tmp_path, installation):
    """callable(words…): (exit status, stdout, stderr)."""
    path = builders.on_files(tmp_path, '[manager]\naudit_grace_seconds = 1')

    def run(*words, file=path, command=('audit',)):
        return programs.run('climate-manager', '--config-file', file, *command, *words)
    return run


@pytest.mark.proof
def test_a_cloud_in_order_a_cloud_out_of_order_and_one_that_was_repaired(installation, audit):
    status, said, _ = audit()
    assert (status, said) == (0, 'The cloud and the database agree.\n')
    nova = installation.cloud.as_service().nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-1'])
    status, said, aside = audit()
    assert status == 2
    assert said.splitlines() == [
        'WHAT      WHICH           WHAT IS WRONG                      --fix',
        'freepool  host compute-1  enrolled, but not in the freepool  '
        'puts it back, if it is empty', '', '1 found.']
    assert '1 found; they are checked again in 1 seconds.' in aside
    status, said, _ = audit('--fix')
    assert status == 0
    assert said.splitlines()[1].endswith('repaired')
    assert 'compute-1' in nova.aggregate('freepool').hosts
    assert audit()[0] == 0


@pytest.mark.proof
def test_drift_that_a_repair_leaves_is_reported_too(installation, audit):
    nova = installation.cloud.as_service().nova
    installation.cloud.boot('eve', 'ordinary', host='compute-3')
    nova.add_hosts(nova.aggregate('freepool'), ['compute-3'])
    status, said, _ = audit('--fix')
    assert status == 2
    assert 'left: nothing: a person must decide' in said


@pytest.mark.proof
def test_errors_and_mistakes_end_with_one(audit, tmp_path):
    for words, wrong in ((('--fox',), '--fox'), (('edit',), 'edit')):
        status, said, aside = audit(*words)
        assert (status, said) == (1, '')
        assert wrong in aside
    status, _, aside = audit('--fix', command=())
    assert (status, 'belongs to "climate-manager audit"' in aside) == (1, True)
    broken = tmp_path / 'broken.conf'
    broken.write_text(f"""[cloud]
driver = simulated
[database]
connection = sqlite:///{tmp_path}/no/such/folder/climate.sqlite
""")
    status, said, aside = audit(file=broken)
    assert (status, said) == (1, '')
    assert 'climate-manager: ' in aside


@pytest.mark.proof
def test_without_the_word_the_daemon_runs_and_audits_by_itself(installation, audit, tmp_path):
    path = tmp_path / 'daemon.conf'
    path.write_text((tmp_path / 'climate.conf').read_text()
                    + 'audit_interval_seconds = 1\naudit_fix = true\n[DEFAULT]\n'
                      f'transport_url = fake:/\nlog_file = {tmp_path}/daemon.log\n')
    nova = installation.cloud.as_service().nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-1'])
    daemon = subprocess.Popen([str(PROGRAM), '--config-file', str(path)])
    try:
        waiting.until(lambda: 'compute-1' in nova.aggregate('freepool').hosts,
                      (tmp_path / 'daemon.log').read_text)
    finally:
        daemon.terminate()
        assert daemon.wait(waiting.SECONDS) == 0
    assert audit()[0] == 0
