# SPDX-License-Identifier: Apache-2.0
"""Managers of this process that die at calls to the real cloud, each followed by another.

They have a database of their own, so that the Climate beside the cloud knows nothing of them.
"""
import datetime
import time

import builders
from oslo_config import cfg

from climate import conf as configuration
from climate.cloud import openstack
from climate.cloud import registry as adapters
from climate.domain import lifecycle
from climate.plugins import registry
from tools.cloud import climate_service

LONGEST = 180


class Killed(BaseException):
    """The manager dies here."""


class Points:
    """Where a manager dies: before or after a call that an event makes, in one phase of a test.

    :ivar fatal: (phase, name of the call, how often it was made before, 'before' or 'after').
    :ivar phase: None while no event is carried out.
    :ivar seen: what was passed, in order.
    """

    def __init__(self, fatal=None):
        self.fatal = fatal
        self.phase = None
        self.seen = []

    def passes(self, name, when):
        if self.phase is None:
            return
        count = sum(each[:2] + each[3:] == (self.phase, name, when) for each in self.seen)
        point = (self.phase, name, count, when)
        self.seen.append(point)
        if point == self.fatal:
            self.fatal = None
            raise Killed


class Clock:
    """The present time, moved on when a manager died, so that its claims are over."""

    def __init__(self):
        self.ahead = datetime.timedelta()

    def __call__(self):
        return datetime.datetime.now(datetime.UTC) + self.ahead


def watched(face, points):
    """A face of the cloud that passes these points before and after each call."""
    def wrap(name):
        def call(self, *args, **kwargs):
            points.passes(name, 'before')
            found = getattr(face, name)(self, *args, **kwargs)
            points.passes(name, 'after')
            return found
        call.__dict__.update(getattr(face, name).__dict__)
        return call
    names = {name for each in face.__mro__ for name in getattr(each, '__abstractmethods__', ())}
    return type(face.__name__, (face,), {'__module__': face.__module__,
                                         **{name: wrap(name) for name in sorted(names)}})


class Managers:
    """The managers of one installation, one after the other.

    :param service: the adapter whose calls count, such as 'neutron'.
    :ivar manager: the one that lives.
    """

    def __init__(self, cloud, database, types, service):
        self.conf = configuration.register(cfg.ConfigOpts())
        self._classes = registry.load(types)
        registry.register_options(self.conf, self._classes)
        self.conf([], project='climate', default_config_dirs=[],
                  default_config_files=[str(climate_service.conf_file(cloud))])
        self.conf.set_override('plugins', types)
        self._database, self._service, self._clock = database, service, Clock()
        self.points = Points()
        self.manager = self._another()

    def _another(self):
        faces = adapters.load(self.conf, 'openstack', registry.services(self._classes))
        own = faces[self._service]
        faces[self._service] = type(own.__name__, (own,), {'faces': {
            name: watched(face, self.points) for name, face in own.faces.items()}})
        return builders.Manager(self.conf, self._database, self._clock,
                                cloud=openstack.OpenStackCloud(self.conf, faces),
                                classes=self._classes)

    def begin(self, fatal=None):
        """Let another manager come, which dies at that point."""
        self.points = Points(fatal)
        self.manager = self._another()

    def run_until(self, owner, lease, state, phase):
        """Run events until the lease has that state and nothing is done to it."""
        self.points.phase = phase
        deadline = time.monotonic() + LONGEST
        while True:
            try:
                self.manager.run()
            except Killed:
                self._clock.ahead += datetime.timedelta(minutes=5)
                self.manager = self._another()
            found = self.manager.client.get_lease(owner, lease.id)
            if found.state == state and found.task is None and not _is_due(found, self._clock()):
                self.points.phase = None
                return found
            assert time.monotonic() < deadline, (found.state, found.reason)
            time.sleep(0.1)


def _is_due(lease, now):
    return any(each.status in (lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)
               and each.at <= now for each in lease.events)
