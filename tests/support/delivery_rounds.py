# SPDX-License-Identifier: Apache-2.0
"""Subscriptions, and one round of what a manager does for them each second."""
import contextlib
import ipaddress

from climate.domain import subscriptions
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.manager.notifications import reminders
from climate.notifiers import mail
from climate.notifiers import webhook
from support import builders
from support import loopback
from support import receivers


@contextlib.contextmanager
def hooks(tmp_path, conf):
    """Serve HTTPS on loopback, where webhooks may go; yields the Hooks."""
    context, authority = receivers.certificate(tmp_path, receivers.NAME)
    conf.set_override('ca_file', authority, group='webhook')
    conf.set_override('allowed_networks', [ipaddress.ip_network('127.0.0.1/32')],
                      group='webhook')
    with receivers.hooks(context) as found:
        yield found


def subscribe(manager, address, events=('start', 'end', 'change'), before_end=(),
              transport='webhook', scope='own', caller=None):
    return manager.client.create_subscription(
        caller or builders.a_member(), subscriptions.SubscriptionRequest(
            scope=scope, transport=transport, address=address, events=events,
            before_end=before_end, secret='the-key'))


def deliver(manager, owner='this manager'):
    """Run the loops of a manager that run each second, once."""
    now = manager.clock()
    fan_out.fan_out(manager.core, now)
    reminders.remind(manager.core, now)
    delivery.Deliverer(manager.core, owner, 'webhook',
                       webhook.Webhook(manager.core.conf, loopback.resolve)).deliver(now)
    delivery.Deliverer(manager.core, owner, 'mail', mail.Mail(manager.core.conf)).deliver(now)


def log(manager, found):
    return manager.client.subscription_log(builders.a_member(), found.id)
