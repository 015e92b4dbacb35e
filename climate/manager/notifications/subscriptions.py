# SPDX-License-Identifier: Apache-2.0
"""The use cases of subscriptions: create, show, list, change, delete, test, log, calendar."""
import dataclasses
import datetime
import random

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate import notifiers
from climate.db import deliveries
from climate.db import engine
from climate.db import reminders
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import subscriptions as domain
from climate.manager import core as cores
from climate.manager.notifications import encryption
from climate.manager.notifications import membership

LOG = log.getLogger(__name__)

# A project has a numbered place for each subscription that its limit allows. This is the number of
# attempts to take a free place while other requests take places.
_ATTEMPTS = 10
_LEFT = ('was switched off: its user has no role in the project any more, or the user or the '
         'project is disabled. A user who has a role again can switch it on.')
# A calendar shows leases that ended at most this long ago.
_PAST = datetime.timedelta(days=90)
# The greatest number of leases in a calendar.
_MOST_LEASES = 1000


class SubscriptionRequests:
    """The use cases of subscriptions. The API checks the permissions of the caller."""

    def __init__(self, core):
        self._core = core
        self._notifiers = notifiers.load(core.conf)
        self._encryption = encryption.KeyEncryption(core.conf)
        self._membership = membership.Membership(core)

    def create(self, context, request):
        """Create a subscription of the caller; return the Subscription.

        :raises BadField: the address cannot be used.
        :raises TooManySubscriptions: the project has reached its limit.
        :raises TooManyOwnSubscriptions: the user has reached the limit for a user.
        """
        now = self._core.clock()
        address = self._checked_address(request.transport, request.address)
        subscription = domain.Subscription(
            id=uuidutils.generate_uuid(), project_id=context.project_id, user_id=context.user_id,
            scope=request.scope, transport=request.transport, address=address,
            events=request.events, before_end=request.before_end, name=request.name,
            created_at=now)
        for _ in range(_ATTEMPTS):
            try:
                with self._core.database.writer() as connection:
                    subscriptions.add(
                        connection, subscription, self._free_place(connection, subscription),
                        **self._secret(subscription, request.secret))
            except engine.Duplicate:
                LOG.debug('Another subscription of the project took the place')
            else:
                LOG.info('Subscription %s of project %s: created, transport %s', subscription.id,
                         subscription.project_id, subscription.transport)
                return subscription
        raise errors.LostRace()

    def _free_place(self, connection, subscription):
        conf = self._core.conf.notifications
        owned = subscriptions.count_of_user(
            connection, subscription.project_id, subscription.user_id)
        if owned >= conf.subscriptions_per_user:
            raise errors.TooManyOwnSubscriptions(most=conf.subscriptions_per_user)
        most = conf.subscriptions_per_project
        taken = subscriptions.places(connection, subscription.project_id)
        free = set(range(most)) - taken
        if len(taken) >= most or not free:
            raise errors.TooManySubscriptions(most=most)
        return random.choice(sorted(free))

    def _secret(self, subscription, secret):
        """Return the columns that store a secret, {name: value}."""
        if secret is None:
            return {}
        if subscription.transport == domain.CALENDAR:
            return {'secret_hash': secret}
        return self._encryption.columns(secret)

    def _checked_address(self, transport, address):
        if transport == domain.CALENDAR:
            return None
        return notifiers.named(self._notifiers, transport).checked(address)

    def get(self, subscription_id):
        """Return a Subscription.

        :raises SubscriptionNotFound: no subscription has that id.
        """
        with self._core.database.reader() as connection:
            return subscriptions.get(connection, subscription_id)

    def find(self, query):
        """Return the Subscriptions that a Query selects, the oldest first."""
        with self._core.database.reader() as connection:
            return subscriptions.find(connection, query)

    @cores.again_after_a_race
    def update(self, subscription_id, changes):
        """Change a subscription; return the Subscription.

        :raises SubscriptionNotFound: no subscription has that id.
        :raises BadField: the address cannot be used.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            before = subscriptions.get(connection, subscription_id)
        values = {name: getattr(changes, name) for name in ('events', 'before_end', 'name',
                                                            'enabled')
                  if getattr(changes, name) is not None}
        if changes.address is not None:
            values['address'] = self._checked_address(before.transport, changes.address)
        if changes.enabled:
            values.update(reason=None, failures=0)
        if changes.secret is not None:
            values.update(self._secret(before, changes.secret))
        with self._core.database.writer() as connection:
            subscriptions.get(connection, subscription_id, locked=True)
            subscriptions.change(connection, subscription_id, now, **values)
            if changes.enabled is False:
                deliveries.give_up_all(connection, subscription_id, now,
                                       'The subscription was switched off by a request.')
            changed = subscriptions.get(connection, subscription_id)
        LOG.info('Subscription %s of project %s: changed', changed.id, changed.project_id)
        return changed

    @cores.again_after_a_race
    def delete(self, subscription_id):
        """Delete a subscription with its log.

        :raises SubscriptionNotFound: no subscription has that id.
        """
        with self._core.database.writer() as connection:
            if not subscriptions.delete(connection, subscription_id):
                raise errors.SubscriptionNotFound(subscription_id=subscription_id)
        LOG.info('Subscription %s: deleted', subscription_id)

    @cores.again_after_a_race
    def test(self, subscription_id):
        """Order a test notification; return the Subscription.

        The result appears in the log of the subscription. Deliveries that wait for another attempt
        are tried now, too.

        :raises SubscriptionOff: the subscription is switched off, or is a calendar.
        :raises TestedTooOften: the last test is too recent.
        """
        now = self._core.clock()
        pause = datetime.timedelta(seconds=self._core.conf.notifications.test_pause_seconds)
        with self._core.database.writer() as connection:
            subscription = subscriptions.get(connection, subscription_id, locked=True)
            if subscription.transport == domain.CALENDAR:
                raise errors.SubscriptionOff(subscription_id=subscription.id, reason=(
                    'is a calendar: nothing is sent to it. Open its address instead.'))
            if not subscription.enabled:
                raise errors.SubscriptionOff(subscription_id=subscription.id, reason=(
                    'is switched off: switch it on first.'))
            last = deliveries.last_of_kind(connection, subscription.id, notification_kinds.TEST)
            if last is not None and last + pause > now:
                raise errors.TestedTooOften(subscription_id=subscription.id, retry_after=int(
                    (last + pause - now).total_seconds()) + 1)
            content = {'event_type': None, 'details': {'message': (
                'This is a test. The notifications of this subscription will arrive here.')}}
            deliveries.hasten(connection, subscription.id, now)
            deliveries.add(connection, [(subscription, f'test:{uuidutils.generate_uuid()}',
                                         notification_kinds.TEST, now, content, now)])
        return subscription

    def log(self, subscription_id, marker=None, limit=None, most_bytes=None):
        """Return the Deliveries of a subscription, the newest first.

        The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.
        """
        with self._core.database.reader() as connection:
            return deliveries.log(connection, subscription_id, marker, limit, most_bytes)

    def calendar(self, secret_hash):
        """Return the LeaseCalendar whose address contains a secret.

        :raises CalendarNotFound: no calendar has that secret, or its user has left the project.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            subscription = subscriptions.of_calendar(connection, secret_hash)
        if self._membership.has_left(subscription):
            self._switch_off(subscription, now)
            raise errors.CalendarNotFound()
        with self._core.database.reader() as connection:
            rows = reminders.leases_of_calendar(connection, subscription, now - _PAST, _MOST_LEASES,
                                                now)
        return domain.LeaseCalendar(subscription=subscription, leases=tuple(
            domain.CalendarLease(**{field.name: getattr(row, field.name)
                                    for field in dataclasses.fields(domain.CalendarLease)})
            for row in rows), at=now)

    @cores.again_after_a_race
    def _switch_off(self, calendar, now):
        with self._core.database.writer() as connection:
            if subscriptions.lock(connection, calendar.id) is not None:
                disable_of_former_member(connection, calendar, now)


def disable_after_failures(connection, subscription, failures, reason, now):
    """Switch a subscription off; notify its user if they have another subscription by mail."""
    text = f'was switched off after {failures} failures. The last one: {reason}'
    _disable(connection, subscription, text, now)
    by_mail = [other for other in subscriptions.of_projects(
        connection, [subscription.project_id]).get(subscription.project_id, ())
        if other.transport == domain.MAIL and other.user_id == subscription.user_id
        and other.id != subscription.id]
    content = {'event_type': None, 'details': {
        'subscription': subscription.id, 'transport': subscription.transport,
        'name': subscription.name or '', 'message': f'It {text}'}}
    source = f'off:{subscription.id}:{now:%Y%m%dT%H%M%S.%f}'
    deliveries.add(connection, ((other, source, notification_kinds.SWITCHED_OFF, now, content, now)
                                for other in by_mail[:1]))


def disable_of_former_member(connection, subscription, now):
    """Switch off the subscription of a user who has left the project, without a notification."""
    _disable(connection, subscription, _LEFT, now)


def _disable(connection, subscription, text, now):
    subscriptions.change(connection, subscription.id, now, enabled=False, reason=text)
    deliveries.give_up_all(connection, subscription.id, now, f'The subscription {text}')
    LOG.warning('Subscription %s of project %s %s', subscription.id, subscription.project_id, text)
