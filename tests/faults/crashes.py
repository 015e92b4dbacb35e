# SPDX-License-Identifier: Apache-2.0
"""A database and a cloud in this process, with points at which the process may crash."""
import shutil

from stories import base
from stories import picture
from support import builders
from support import crashing

from climate.cloud import simulated


class Place:
    """One database and one cloud, on which managers come and go.

    The database stays open while its files are replaced, so that its statements are compiled once.

    :ivar cloud: the SimulatedCloud; there after `begin`.
    """

    def __init__(self, conf, folder):
        folder.mkdir()
        self.points = crashing.Points()
        self.database = crashing.Fragile(f'sqlite:///{folder}/climate.sqlite', self.points)
        self.clock = builders.Clock()
        self.cloud = None
        conf.set_override('state', str(folder / 'cloud.sqlite'), group='simulated')
        conf.set_override('lent_aggregate', base.LENT, group='acquire')
        conf.set_override('trust_required', True, group='keystone')
        self._conf, self._folder = conf, folder

    def begin(self, source, now):
        """Take copies of the files in `source` instead of those that are here."""
        self.close()
        self.points.begin(0)
        shutil.rmtree(self._folder)
        shutil.copytree(source, self._folder)
        self.clock.now = now
        self.cloud = simulated.SimulatedCloud(self._conf, clock=lambda: self.clock().timestamp())
        self.cloud.faults.on_point = self.points.reach

    def save(self, target):
        """Leave copies of the files in `target`."""
        self.close()
        shutil.copytree(self._folder, target)

    def manager(self):
        """A manager that has just been started."""
        return builders.Manager(self._conf, self.database, self.clock, self.cloud)

    def close(self):
        if self.cloud is not None:
            self.cloud.close()
            self.cloud = None
        self.database.dispose()


def arrange(place, story, folder, migrated):
    """Files in which all is ready for the story, and the moment at which it begins."""
    place.begin(migrated.parent, builders.NOON)
    picture.subscribe(place.manager())
    story.arrange(place.manager())
    place.save(folder)
    return folder, place.clock.advance(builders.minutes(1))


def act(story, manager):
    """Play the story to its end."""
    story.act(manager)
    base.wait_for(manager, lambda: story.is_over(manager))
