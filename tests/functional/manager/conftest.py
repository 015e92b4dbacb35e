# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of the manager: hosts that sleep, lent hosts, a webhook, one poll."""
import types

import acts
import clearings
import oslo_messaging as messaging
from oslo_messaging import transport
import pytest
import sleepers_world
from support import builders
from support import delivery_rounds

from climate.manager.pools import refresh


@pytest.fixture
def conf(conf):
    """Climate's options as in all tests, with rare polls of waiting work, which cost time."""
    conf.set_override('busy_seconds', 5, group='manager')
    return conf


@pytest.fixture
def polls_each_second(conf):
    """Waiting work is polled each second, as it is by default."""
    conf.set_override('busy_seconds', 1, group='manager')


@pytest.fixture
def sleeping_hosts(conf):
    """Hosts can sleep, and none is spare."""
    sleepers_world.configured(conf)


@pytest.fixture
def keeping(manager, conf):
    """A keeper of power whose steps run when a test says so."""
    return sleepers_world.Keeping(manager, conf)


@pytest.fixture
def cloud(conf, manager):
    """The cloud of the manager with four hosts: c1 to c3 are lent and in use, c4 is free."""
    return clearings.lent_cloud(conf, manager)


@pytest.fixture
def enrolled(manager):
    """The manager with four hosts, a segment and a back end."""
    manager.enrol(4)
    for pool, name in (('segment', 'physnet1:vlan:3000'), ('backend', 'storage@ssd#ssd')):
        manager.client.create_resource(builders.an_admin(), pool, name, {})
    return manager


@pytest.fixture
def hooks(tmp_path, conf):
    """A receiver of webhooks on loopback."""
    with delivery_rounds.hooks(tmp_path, conf) as receiver:
        yield receiver


@pytest.fixture
def bus_options(conf):
    """The configuration with the options of oslo.messaging for notifications on the bus."""
    messaging.get_notification_transport(conf, url='fake:/')  # It registers the options.
    conf.register_opts([], group='oslo_messaging_notifications')
    messaging.Notifier(transport.NotificationTransport(types.SimpleNamespace(conf=conf)), 'nobody')
    conf.set_override('driver', ['messagingv2'], group='oslo_messaging_notifications')
    return conf


@pytest.fixture
def meddling(database):
    """The database, in which others act before the transactions of its manager."""
    found = acts.Meddling(database.engine.url)
    yield found
    found.dispose()


@pytest.fixture
def other(manager, meddling):
    """Another manager of the same cloud, on `meddling`."""
    return builders.Manager(manager.core.conf, meddling, manager.clock, manager.cloud)


@pytest.fixture
def poll_cloud(manager):
    """callable(): poll the cloud once; returns the names of the resources that changed."""
    refresher = refresh.Refresher(manager.core, 'this manager')
    return lambda: refresher.refresh(manager.clock())
