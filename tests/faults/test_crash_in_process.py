# SPDX-License-Identifier: Apache-2.0
"""A crash before and after every call of the cloud and every commit, in this process."""
import contextlib
import shutil

import builders
import pytest
import stories

from climate.cloud import simulated
from climate.db import engine


class Crash(BaseException):
    """The process dies here: nothing may catch it and go on."""


class Points:
    """Counts the moments at which a process may die, and lets it die at one of them."""

    def __init__(self):
        self.count = 0
        self.crash_at = 0

    def reach(self, *_where):
        self.count += 1
        if self.count == self.crash_at:
            raise Crash

    def begin(self, crash_at):
        self.count, self.crash_at = 0, crash_at


class Fragile(engine.Database):
    """A database with a moment to die before and after each commit."""

    def __init__(self, url, points):
        super().__init__(url)
        self._points = points

    @contextlib.contextmanager
    def writer(self):
        with super().writer() as connection:
            yield connection
            self._points.reach()
        self._points.reach()


class Place:
    """One database and one cloud, on which managers come and go."""

    def __init__(self, conf, folder):
        self.points = Points()
        self.database = Fragile(f'sqlite:///{folder}/climate.sqlite', self.points)
        self.clock = builders.Clock()
        conf.set_override('state', str(folder / 'cloud.sqlite'), group='simulated')
        conf.set_override('lent_aggregate', stories.LENT, group='acquire')
        self.cloud = simulated.SimulatedCloud(conf, clock=lambda: self.clock().timestamp())
        self.cloud.faults.on_point = self.points.reach
        self._conf = conf

    def manager(self):
        """A manager that has just been started."""
        return builders.Manager(self._conf, self.database, self.clock, self.cloud)

    def close(self):
        self.cloud.close()
        self.database.dispose()


def arrange(conf, story, folder, migrated):
    """Files in which all is ready for the story, and the moment at which it begins."""
    folder.mkdir()
    shutil.copy(migrated, folder / 'climate.sqlite')
    place = Place(conf, folder)
    story.arrange(place.manager())
    place.close()
    return folder, place.clock.advance(builders.minutes(1))


def _play(conf, story, ready, folder, crash_at):
    """The picture in the end, and whether the process died on the way."""
    source, begins = ready
    shutil.copytree(source, folder)
    place = Place(conf, folder)
    place.clock.now = begins
    place.points.begin(crash_at)
    died = False
    try:
        act(story, place.manager())
    except Crash:
        died = True
        place.clock.advance(builders.minutes(1))
        act(story, place.manager())
    place.points.begin(0)
    found = stories.picture(place.manager())
    place.close()
    shutil.rmtree(folder)
    return found, died


def act(story, manager):
    """Play the story to its end."""
    story.act(manager)
    stories.wait_for(manager, lambda: story.is_over(manager))


@pytest.mark.parametrize('name', stories.STORIES)
def test_after_a_crash_between_any_two_steps_all_is_as_without_it(
        name, conf, tmp_path, migrated, record_property):
    story = stories.STORIES[name]
    conf.set_override('delete_seconds', 1, group='simulated')
    ready = arrange(conf, story, tmp_path / 'ready', migrated)
    expected, _ = _play(conf, story, ready, tmp_path / 'whole', 0)
    assert expected['drift'] == []
    crash_at, died = 0, True
    wrong = {}
    while died:
        crash_at += 1
        found, died = _play(conf, story, ready, tmp_path / str(crash_at), crash_at)
        if found != expected:
            wrong[crash_at] = {key: (expected[key], value) for key, value in found.items()
                               if value != expected[key]}
    record_property('crash points', crash_at - 1)
    print(f'{name}: {crash_at - 1} crash points')
    assert not wrong, f'{name}: {len(wrong)} of {crash_at - 1} points go wrong: {wrong}'
    assert crash_at > 5
