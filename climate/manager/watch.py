# SPDX-License-Identifier: Apache-2.0
"""Are the single things that are leased still there? Where one is not, its lease is looked at.

A user may delete a leased server at any time. Nova tells of it where its notifications are on; the
periodic look finds it where they are not.
"""
from oslo_log import log
import oslo_messaging as messaging

from climate.db import events
from climate.db import leases
from climate.db import reservations
from climate.domain import agenda
from climate.domain import lifecycle
from climate.manager import core

LOG = log.getLogger(__name__)

_DELETED = r'^instance\.delete\.end$'
# All managers together take each notification once, and none from other listeners.
_LISTENERS = 'climate'


class Watch:
    """Finds leased things that are gone, and lets their leases be checked."""

    def __init__(self, parts):
        self._core = parts

    def look(self, now):
        """Look at all that is leased; returns the ids of what is gone."""
        gone = set()
        for plugin in self._core.registry.plugins.values():
            if plugin.leases_things:
                gone |= self._gone(plugin)
        self.check(gone, now)
        return frozenset(gone)

    def check(self, leased_ids, now):
        """Let the leases of these things be checked, those of them that are leased."""
        with self._core.database.reader() as connection:
            found = reservations.leasing(connection, leased_ids)
        for lease_id in sorted({lease_id for _, lease_id in found.values()}):
            self._order_check(lease_id, now)
        if found:
            self._core.wake()

    def _gone(self, plugin):
        with self._core.database.reader() as connection:
            leased = reservations.leased_ids(connection, plugin.resource_type)
        return plugin.gone(self._core.cloud, leased) if leased else frozenset()

    @core.again_after_a_race
    def _order_check(self, lease_id, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            if lease.task in lifecycle.TEARDOWN:
                # Climate itself deletes what it leases.
                return
            ordered = lease.event(agenda.CHECK)
            if ordered is None:
                events.add(connection, [events.new(lease_id, agenda.CHECK, now, now)])
            elif ordered.status in (lifecycle.EVENT_DONE, lifecycle.EVENT_ERROR):
                events.move(connection, ordered, now, now)


class Listener:
    """Hears from Nova which servers were deleted.

    :param clock: returns this moment.
    """

    filter_rule = messaging.NotificationFilter(event_type=_DELETED)

    def __init__(self, watch, clock):
        self._watch = watch
        self._clock = clock

    def info(self, context, publisher_id, event_type, payload, metadata):
        """Nova's versioned notification that a server is gone."""
        server_id = payload.get('nova_object.data', {}).get('uuid')
        if server_id:
            LOG.debug('Nova says that server %s was deleted', server_id)
            self._watch.check([server_id], self._clock())


def listen(conf, watch, clock):
    """A listener that was started, or None where [nova] notifications is off."""
    if not conf.nova.notifications:
        return None
    transport = messaging.get_notification_transport(
        conf, url=conf.nova.notification_transport_url or None)
    targets = [messaging.Target(topic=topic, exchange=conf.nova.notification_exchange)
               for topic in conf.nova.notification_topics]
    listener = messaging.get_notification_listener(
        transport, targets, [Listener(watch, clock)], executor=conf.manager.backend,
        pool=_LISTENERS)
    listener.start()
    return listener
