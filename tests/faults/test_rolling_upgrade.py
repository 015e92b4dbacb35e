# SPDX-License-Identifier: Apache-2.0
"""An upgrade from an earlier commit under load: no request is lost, nothing is late or doubled.

CLIMATE_UPGRADE_FROM names the commit whose wheel is installed first. Without it the test is
skipped, because it wants the machine for itself.
"""
import dataclasses
import os
import signal

from chaos import clients
from chaos import plan
from chaos import rolling
from chaos import run
import pytest
from support import balanced
from support import building

from climate.db import migrate

_FROM = os.environ.get('CLIMATE_UPGRADE_FROM')
_LATE_SECONDS = 60
# The answers of each step of the upgrade.
_ANSWERS = 100
# Answers after which a client of the service can go on; 503 has Retry-After.
_CLEAR = {200, 201, 202, 204, 400, 404, 409, 503}

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not _FROM, reason='CLIMATE_UPGRADE_FROM is not set'),
    pytest.mark.skipif(bool(balanced.missing()), reason='nginx or memcached is not installed')]


@pytest.fixture(scope='module')
def earlier(tmp_path_factory):
    """The Python of an environment with the wheel of the earlier commit."""
    if not building.has_commit(_FROM):
        pytest.skip(f'The earlier release is built from the history of git, and the commit {_FROM} '
                    'is not there: run this test in a full clone.')
    return building.of_commit(_FROM, tmp_path_factory.mktemp('earlier'))


@pytest.fixture
def stage(tmp_path, earlier):
    """A RollingStage on MariaDB and RabbitMQ."""
    # Stop the processes of a run that ends by a signal.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield rolling.RollingStage(dataclasses.replace(
        plan.make(tmp_path, 'mariadb', [], 0), managers=4, apis=4, cuttable=False,
        claim_seconds=30, answer_seconds=60, late_seconds=_LATE_SECONDS), earlier)
    signal.signal(signal.SIGTERM, before)


def upgrade(stage):
    """Upgrade, return to the earlier release, upgrade again; yield the name of each step."""
    yield 'the earlier release'
    assert stage.climate_db('upgrade')[0] == 1, 'Managers of the earlier release run.'
    assert stage.climate_db('upgrade', '--expand') == (0, f'{migrate.expanded()}\n')
    yield 'expanded tables'
    stage.begin(rolling.NEW_MANAGERS)
    yield 'managers of both releases'
    stage.begin(rolling.NEW_APIS)
    yield 'managers and APIs of both releases'
    stage.end(rolling.NEW_MANAGERS)
    yield 'a new API with old managers'
    stage.end(rolling.NEW_APIS)
    for name in (rolling.OLD_MANAGERS[0], rolling.OLD_APIS[0]):
        stage.end([name])
        stage.begin([name])
    yield 'the earlier release, started again with expanded tables'
    stage.begin(rolling.NEW_MANAGERS)
    stage.end(rolling.OLD_MANAGERS)
    yield 'an old API with new managers'
    stage.begin(rolling.NEW_APIS)
    stage.serve_by(rolling.NEW_APIS)
    stage.end(rolling.OLD_APIS)
    yield 'the new release with expanded tables'
    assert stage.climate_db('upgrade') == (0, f'{migrate.newest()}\n')
    yield 'the new release'


def test_a_rolling_upgrade_loses_no_request_and_makes_nothing_late(stage, tmp_path, figures):
    answers, outdated, wrong = {}, {}, []

    def disturb(stage):
        with rolling.leasing(stage, tmp_path) as (crowd, reader):
            for step in upgrade(stage):
                before, outdated_before = crowd.answers, reader.outdated
                rolling.more(crowd, _ANSWERS)
                answers[step] = crowd.answers - before
                outdated[step] = reader.outdated - outdated_before
        wrong.extend(reader.wrong)
        return crowd, []

    outcome = run.play_on(stage, disturb)
    figures('\n'.join([outcome.table, *(
        f'{step}: {dict(found)}, {outdated[step]} times manager_outdated'
        for step, found in answers.items())]))
    assert outcome.wrong == [] == wrong
    # Without managers of the earlier release, no call is unknown.
    assert [step for step, count in outdated.items() if count and 'new release' in step] == []
    assert {code for found in answers.values() for _, code in found} <= _CLEAR
    assert clients.LOST not in _CLEAR
    # A manager of the earlier release logs a call that it does not know with a traceback.
    assert [path.name for path in stage.plan.place.log.iterdir()
            if path.stem not in rolling.OLD_MANAGERS
            and 'Traceback' in path.read_text(errors='replace')] == []
