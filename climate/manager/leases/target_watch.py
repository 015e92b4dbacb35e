# SPDX-License-Identifier: Apache-2.0
"""Watch leased targets, and order a check of a lease whose target no longer exists.

A target is an object in the cloud that a reservation leases, such as a server. A user may delete a
leased server at any time. Nova reports the deletion at once if its notifications are on. Otherwise
a periodic task notices it.
"""
from oslo_log import log
import oslo_messaging as messaging

from climate.db import events
from climate.db import leases
from climate.db import reservations
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.manager import core
from climate.rpc import transport

LOG = log.getLogger(__name__)

_DELETED = r'^instance\.delete\.end$'
# All managers listen in one pool, so that only one of them gets each notification. Services in
# other pools get it, too.
_LISTENERS = 'climate'


class TargetWatch:
    """Finds leased targets that are gone, and orders checks of their leases."""

    def __init__(self, parts):
        self._core = parts

    def check_all(self, now):
        """Check all leased targets in the cloud; return the ids of the targets that are gone."""
        gone = set()
        for plugin in self._core.registry.plugins.values():
            if plugin.leases_targets:
                gone |= self._gone(plugin)
        self.check(gone, now)
        return frozenset(gone)

    def check(self, leased_ids, now):
        """Order checks of the leases of these targets.

        :param leased_ids: ids in the cloud; ids that no reservation leases are ignored.
        """
        with self._core.database.reader() as connection:
            leasing = reservations.leasing(connection, leased_ids)
        for lease_id in sorted({lease_id for _, lease_id in leasing.values()}):
            with core.isolated('Lease %s', lease_id):
                self._order_check(lease_id, now)
        if leasing:
            self._core.notify()

    def _gone(self, plugin):
        with self._core.database.reader() as connection:
            leased = reservations.leased_ids(connection, plugin.resource_type)
        if not leased:
            return frozenset()
        return frozenset().union(*core.ask_together_or_each(
            lambda ids: plugin.gone(self._core.cloud, frozenset(ids)), sorted(leased),
            f'Leased targets of {plugin.resource_type}'))

    @core.again_after_a_race
    def _order_check(self, lease_id, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            if lease.task in lifecycle.TEARDOWN:
                # Climate itself may have deleted the target.
                return
            events.change(connection, lease_id,
                          lease_events.ordered(lease, event_kinds.CHECK, now), now)


class DeletionListener:
    """Listener for Nova's notifications of deleted servers.

    :param clock: returns the present moment.
    """

    filter_rule = messaging.NotificationFilter(event_type=_DELETED)

    def __init__(self, watch, clock):
        self._watch = watch
        self._clock = clock

    def info(self, context, publisher_id, event_type, payload, metadata):
        """Handle Nova's versioned notification that a server was deleted."""
        server_id = payload.get('nova_object.data', {}).get('uuid')
        if server_id:
            LOG.debug('Nova reports that server %s was deleted', server_id)
            self._watch.check([server_id], self._clock())


def listen(conf, watch, clock, more=()):
    """Start a listener to Nova's notifications and return it.

    :param more: other endpoints for the notifications.
    """
    targets = [messaging.Target(topic=topic, exchange=conf.nova.notification_exchange)
               for topic in conf.nova.notification_topics]
    listener = messaging.get_notification_listener(
        transport.connect_to_nova(conf), targets, [DeletionListener(watch, clock), *more],
        executor=conf.manager.backend, pool=_LISTENERS)
    listener.start()
    return listener
