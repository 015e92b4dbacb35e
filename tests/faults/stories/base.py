# SPDX-License-Identifier: Apache-2.0
"""The common part of all stories: their base class, and actions on the lease of a story."""
import datetime
import uuid

from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import records

LEASE = str(uuid.UUID(int=1))
OTHER = str(uuid.UUID(int=2))
#: The aggregate of hosts that may be cleared.
LENT = 'lent'
#: {name: Story} of the stories that have been imported.
STORIES = {}


class Story:
    """One use case.

    `arrange` runs undisturbed. `act` can be cut short and is then called again, as a client does
    that got no answer. `is_over` says whether nothing is left to do. A subclass with a name of its
    own is listed in STORIES.
    """

    name = None
    host_count = 4
    #: A real process dies at the commits of `act`, where `act` calls no cloud.
    dies_at_commits = False
    #: Whether it calls the cloud, so that a manager can be killed at a call.
    calls_cloud = True

    def __init_subclass__(cls):
        if 'name' in vars(cls):
            assert cls.name not in STORIES, cls.name
            STORIES[cls.name] = cls()

    def arrange(self, manager):
        for name in sorted(manager.cloud.host_names())[:self.host_count]:
            manager.client.create_resource(builders.an_admin(), 'host', name, {})

    def act(self, manager):
        raise NotImplementedError

    def is_over(self, manager):
        raise NotImplementedError


def wait_for(manager, is_over):
    """Run a manager without threads until `is_over()`; the clock advances meanwhile."""
    for _ in range(200):
        manager.run()
        if is_over():
            return
        manager.clock.advance(datetime.timedelta(seconds=1))
    raise AssertionError('The story did not end within 200 seconds.')


def has_started(manager):
    """Return whether the start of the lease succeeded or failed."""
    return lease(manager).state in (lifecycle.ACTIVE, lifecycle.ERROR)


def wait_for_start(manager):
    wait_for(manager, lambda: has_started(manager))


def is_done(manager, kind, lease_id=LEASE):
    """Return whether the event of that kind exists and is done."""
    event = lease(manager, lease_id).event(kind)
    return event is not None and event.status == lifecycle.EVENT_DONE


def create(manager, *reservations, later=False, lease_id=LEASE, **more):
    """Create a lease unless it exists; it starts now, or in 8 hours if `later`."""
    now = manager.core.clock()
    try:
        lease(manager, lease_id)
    except errors.LeaseNotFound:
        manager.client.create_lease(builders.a_member(), lease_id, builders.a_lease(
            *reservations, start=now + builders.hours(8) if later else None,
            end=now + builders.hours(9), **more))


def lease(manager, lease_id=LEASE):
    return manager.client.get_lease(builders.a_member(), lease_id)


def start_now(manager):
    if lease(manager).start > manager.core.clock():
        manager.client.update_lease(builders.a_member(), LEASE,
                                    records.LeaseChanges(start_now=True))


def end_now(manager, lease_id=LEASE):
    """End an active lease."""
    ending = lease(manager, lease_id)
    if ending.state == lifecycle.ACTIVE and ending.end > manager.core.clock():
        manager.client.update_lease(builders.a_member(), lease_id,
                                    records.LeaseChanges(end_now=True))


def change_reservation(manager, **fields):
    """Give fields of the lease's only reservation new values."""
    [reservation] = lease(manager).reservations
    if any(reservation.request[name] != value for name, value in fields.items()):
        manager.client.update_lease(builders.a_member(), LEASE, records.LeaseChanges(
            reservations=(records.ReservationRequest(None, fields, id=reservation.id),)))
