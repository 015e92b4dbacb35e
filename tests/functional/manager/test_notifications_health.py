# SPDX-License-Identifier: Apache-2.0
"""Subscribers read in a mail that their lease was moved or cannot use its resources, and why."""
import pytest
from support import builders
from support import receivers

from climate.domain import maintenance_windows
from climate.domain import notification_kinds
from climate.domain import subscriptions
from climate.manager.health import checks
from climate.manager.leases import health_moves
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.manager.pools import refresh
from climate.notifiers import mail

NOON, hours = builders.NOON, builders.hours
ADMIN = builders.an_admin()


@pytest.fixture
def box(tmp_path, manager):
    """The mails of one who subscribed without choosing kinds."""
    context, authority = receivers.certificate(tmp_path, 'localhost')
    with receivers.mail_server(context) as found:
        receivers.use_mail(manager.core.conf, found, authority)
        manager.client.create_subscription(builders.a_member(), subscriptions.SubscriptionRequest(
            scope='own', transport='mail', address='ann@example.org', before_end=(),
            events=notification_kinds.USUAL))
        yield found


def _read(manager, box):
    """Return (subject, text) of the only mail that is delivered now."""
    fan_out.fan_out(manager.core, manager.clock())
    delivery.Deliverer(manager.core, 'this manager', 'mail',
                       mail.Mail(manager.core.conf)).deliver(manager.clock())
    [found] = box.mails
    return found['Subject'], found.get_body(('plain',)).get_content()


def _lease(manager):
    return manager.book(builders.hosts(1), name='mine', start=NOON + hours(2), end=NOON + hours(4))


def _spoil(manager, host):
    manager.client.set_out_of_order(ADMIN, 'host', host.id, 'a fan is broken')
    checks.HealthChecks(manager.core, 'this manager').check(manager.clock())
    health_moves.HealthMoves(manager.core).move_soon(manager.clock())


def test_a_mail_says_that_a_lease_was_moved(manager, box):
    first, _ = manager.enrol(2)
    _lease(manager)
    _spoil(manager, first)
    subject, text = _read(manager, box)
    assert subject == 'Lease mine was moved to other resources'
    assert 'cannot be used' in text
    assert 'are replaced by' in text


def test_a_mail_says_that_no_other_resource_fits_a_lease(manager, box):
    [host] = manager.enrol(1)
    _lease(manager)
    _spoil(manager, host)
    subject, text = _read(manager, box)
    assert subject == 'Lease mine: some of its resources do not work'
    assert 'cannot be used' in text
    assert host.name not in text


def test_a_mail_says_that_resources_of_a_running_lease_do_not_work(manager, box):
    [host] = manager.enrol(1)
    manager.active(builders.hosts(1), name='mine', end=NOON + hours(4))
    _read(manager, box)
    box.mails.clear()
    manager.cloud.mark_host(host.name, up=False)
    for _ in range(3):
        refresh.Refresher(manager.core, 'this manager').refresh(manager.clock())
    subject, text = _read(manager, box)
    assert subject == 'Lease mine: some of its resources do not work'
    assert 'A part of its resources does not work' in text


def test_a_mail_says_that_resources_of_a_lease_have_maintenance(manager, box):
    [host] = manager.enrol(1)
    _lease(manager)
    manager.client.create_maintenance(ADMIN, maintenance_windows.MaintenanceRequest(
        'host', NOON + hours(1), NOON + hours(3), 'new firmware', resources=(host.name,)))
    subject, text = _read(manager, box)
    assert subject == 'Lease mine: some of its resources have maintenance'
    assert 'new firmware' in text
