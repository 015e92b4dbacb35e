# SPDX-License-Identifier: Apache-2.0
"""A real manager is killed with kill -9 between any two steps; the next one completes its work."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import stories
from stories import picture
from support import builders

from climate.cloud import simulated
from climate.db import engine

_KILLED = -9
_HERE = pathlib.Path(__file__).parent


class Runner:
    """The warm process that forks a manager for each request."""

    def __init__(self):
        paths = [str(_HERE), str(_HERE.parent), str(_HERE.parent.parent)]
        self._process = subprocess.Popen(
            [sys.executable, str(_HERE / 'crash_runner.py')], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, 'PYTHONPATH': os.pathsep.join(paths)})

    def send(self, folder, story, crash_at=0, arrange=False):
        request = {'folder': str(folder), 'story': story, 'crash_at': crash_at,
                   'arrange': arrange}
        self._process.stdin.write(json.dumps(request).encode() + b'\n')
        self._process.stdin.flush()

    def answer(self):
        """The next (folder, exit status)."""
        line = self._process.stdout.readline()
        assert line, 'The runner died.'
        found = json.loads(line)
        return pathlib.Path(found['folder']), found['status']

    def close(self):
        self._process.stdin.close()
        self._process.wait(60)


@pytest.fixture(scope='module')
def runner():
    found = Runner()
    yield found
    found.close()


def _copy(source, target):
    target.mkdir()
    for path in source.glob('*.sqlite*'):
        shutil.copy(path, target)
    return target


def _picture(conf, folder):
    """Return the state in the files that dead and living managers left."""
    conf.set_override('state', str(folder / 'cloud.sqlite'), group='simulated')
    database = engine.Database(f'sqlite:///{folder}/climate.sqlite')
    cloud = simulated.SimulatedCloud(conf)
    manager = builders.Manager(conf, database, database.now, cloud)
    found = picture.take(manager)
    cloud.close()
    database.dispose()
    return found


def _visit(runner, story, ready, folder, points):
    """Kill a manager at each of `points`, then run another; {point: how its first run ended}."""
    ended = {}
    for point in points:
        runner.send(_copy(ready, folder / str(point)), story, crash_at=point)
    left = len(points)
    while left:
        where, status = runner.answer()
        point = int(where.name)
        if point not in ended:
            ended[point] = status
            if status == _KILLED:
                runner.send(where, story)
                continue
        assert status == 0, f'{story}: point {point} ended with {status}'
        left -= 1
    return ended


@pytest.mark.proof
@pytest.mark.parametrize('story', [name for name, each in stories.STORIES.items()
                                   if each.calls_cloud])
def test_a_manager_killed_between_any_two_steps_is_healed_by_the_next(
        story, runner, conf, tmp_path, migrated, record_property):
    ready = tmp_path / 'ready'
    ready.mkdir()
    shutil.copy(migrated, ready / 'climate.sqlite')
    runner.send(ready, story, arrange=True)
    assert runner.answer()[1] == 0
    whole = _copy(ready, tmp_path / 'whole')
    runner.send(whole, story)
    assert runner.answer()[1] == 0
    expected = _picture(conf, whole)
    assert expected['drift'] == []
    visited, wrong, batch = 0, {}, 12
    while True:
        points = range(visited + 1, visited + 1 + batch)
        ended = _visit(runner, story, ready, tmp_path, points)
        killed = [point for point in points if ended[point] == _KILLED]
        for point in points:
            found = _picture(conf, tmp_path / str(point))
            if found != expected:
                wrong[point] = {key: (expected[key], value) for key, value in found.items()
                                if value != expected[key]}
        visited += len(killed)
        if len(killed) < batch:
            break
    record_property('fault points', visited)
    print(f'{story}: a manager was killed at {visited} fault points')
    assert not wrong, f'{story}: {len(wrong)} of {visited} points go wrong: {wrong}'
    assert visited >= 4
