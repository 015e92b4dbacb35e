# SPDX-License-Identifier: Apache-2.0
"""Switch subscriptions off that do not work, or whose users have left the project."""
from oslo_log import log

from climate.db import deliveries
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import subscriptions as domain

LOG = log.getLogger(__name__)

_LEFT = ('was switched off: its user has no role in the project any more, or one of them is '
         'disabled. A user who has a role again can switch it on.')


def after_failures(connection, subscription, failures, reason, now):
    """Switch a subscription off, and tell its user by mail if he has a subscription by mail."""
    text = f'was switched off after {failures} failures. The last one: {reason}'
    _switch_off(connection, subscription, text, now)
    by_mail = [each for each in subscriptions.of_projects(
        connection, [subscription.project_id]).get(subscription.project_id, ())
        if each.transport == domain.MAIL and each.user_id == subscription.user_id
        and each.id != subscription.id]
    content = {'event_type': None, 'details': {
        'subscription': subscription.id, 'transport': subscription.transport,
        'name': subscription.name or '', 'message': f'It {text}'}}
    source = f'off:{subscription.id}:{now:%Y%m%dT%H%M%S.%f}'
    deliveries.add(connection, ((each, source, notification_kinds.SWITCHED_OFF, now, content, now)
                                for each in by_mail[:1]))


def of_former_member(connection, subscription, now):
    """Switch the subscription of a user off who has left the project; he is not told by mail."""
    _switch_off(connection, subscription, _LEFT, now)


def _switch_off(connection, subscription, text, now):
    subscriptions.change(connection, subscription.id, now, enabled=False, reason=text)
    deliveries.give_up_all(connection, subscription.id, now, f'The subscription {text}')
    LOG.warning('Subscription %s of project %s %s', subscription.id, subscription.project_id, text)
