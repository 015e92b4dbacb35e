# SPDX-License-Identifier: Apache-2.0
"""Audits that a manager makes by itself, from time to time."""
import logging

import prometheus_client
import pytest
from support import builders

from climate import errors
from climate.db import managers
from climate.domain import audit
from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.events import clock_watch


@pytest.fixture
def watchman(manager):
    """The AuditSchedule of a manager called "this", on a cloud with two enrolled hosts."""
    manager.enrol(2)
    return schedule.AuditSchedule(manager.core, 'this')


def spoil(manager):
    """Take a host out of the freepool; returns what an audit calls it."""
    nova = manager.cloud.as_service().nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-1'])
    return 'host compute-1'


def looks(manager):
    """A list that gets longer with each pass over the cloud."""
    found = []
    manager.cloud.faults.on_point = lambda name, when: found.append(name) if (
        name, when) == ('nova.aggregates', 'before') else None
    return found


def after(manager, watchman, seconds):
    return watchman.step(manager.clock.advance(builders.minutes(seconds / 60)))


def test_the_schedule_audits_hourly_and_rechecks_new_drift_soon(manager, watchman, caplog):
    counted = looks(manager)
    assert watchman.step(manager.clock()) == []
    assert after(manager, watchman, 3599) == []
    assert len(counted) == 1
    what = spoil(manager)
    with caplog.at_level(logging.WARNING):
        assert after(manager, watchman, 1) == []
        assert after(manager, watchman, 119) == []
        assert len(counted) == 2
        assert caplog.messages == []
        [left] = after(manager, watchman, 1)
        assert left.what == what
    assert any(what in each and 'puts it back' in each for each in caplog.messages)
    assert len(counted) == 3
    assert after(manager, watchman, 3599) == []
    assert len(counted) == 3
    assert len(after(manager, watchman, 1)) == 1


def test_the_schedule_repairs_only_if_configured(conf, manager, watchman):
    conf.set_override('audit_grace_seconds', 0, group='manager')
    spoil(manager)
    freepool = manager.cloud.as_service().nova
    assert len(watchman.step(manager.clock())) == 1
    assert 'compute-1' not in freepool.aggregate('freepool').hosts
    conf.set_override('audit_fix', True, group='manager')
    assert after(manager, watchman, 3600) == []
    assert 'compute-1' in freepool.aggregate('freepool').hosts
    assert not any(watchman.counts.values())


def test_the_result_of_an_audit_is_kept_until_the_next_one(conf, manager, watchman):
    conf.set_override('audit_grace_seconds', 0, group='manager')
    admin = builders.an_admin()
    assert manager.client.get_audit(admin) is None
    what = spoil(manager)
    watchman.step(manager.clock())
    found = manager.client.get_audit(admin)
    assert (found.at, found.manager_id, found.finding_count) == (builders.NOON, 'this', 1)
    assert found.findings == (audit.AuditFinding(
        'freepool', what, 'enrolled, but not in the freepool', 'puts it back, if it is empty'),)
    conf.set_override('audit_fix', True, group='manager')
    after(manager, watchman, 3600)
    found = manager.client.get_audit(admin)
    assert (found.at, found.findings) == (builders.at(1), ())


def test_an_audit_keeps_the_first_of_many_findings(conf, manager, watchman, monkeypatch):
    conf.set_override('audit_grace_seconds', 0, group='manager')
    monkeypatch.setattr('climate.domain.audit.MOST_SHOWN', 1)
    spoil(manager)
    nova = manager.cloud.as_service().nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-2'])
    watchman.step(manager.clock())
    found = manager.client.get_audit(builders.an_admin())
    assert (found.finding_count, [each.what for each in found.findings]) == (
        2, ['host compute-1'])


def test_one_manager_audits_for_all(manager, watchman):
    counted = looks(manager)
    now = manager.clock()
    with manager.database.writer() as connection:
        managers.seen(connection, 'older', 'a host', now - builders.hours(1), now, 0)
        managers.seen(connection, 'this', 'a host', now, now, 0)
    watchman.step(now)
    assert (counted, watchman.counts) == ([], None)
    later = manager.clock.advance(builders.minutes(2))
    with manager.database.writer() as connection:
        managers.seen(connection, 'this', 'a host', now, later, 0)
    watchman.step(later)
    assert len(counted) == 1


def test_the_schedule_audits_again_soon_after_a_failure_of_the_cloud(manager, watchman):
    manager.cloud.fail('nova.aggregates', 1, errors.CloudUnreachable(service='Nova', reason='ill'))
    with pytest.raises(errors.CloudUnreachable):
        watchman.step(manager.clock())
    assert watchman.step(manager.clock()) == []
    assert watchman.counts is not None


@pytest.mark.parametrize('interval, grace, pause', [
    (3600, 120, 120), (60, 120, 60), (3600, 0, 1), (0, 120, 0)])
def test_the_pause_of_the_schedule_follows_its_options(conf, watchman, interval, grace, pause):
    conf.set_override('audit_interval_seconds', interval, group='manager')
    conf.set_override('audit_grace_seconds', grace, group='manager')
    assert watchman.pause_seconds == pause


def test_metrics_count_the_drift_of_the_last_audit(conf, manager, watchman):
    def text():
        registry = prometheus_client.CollectorRegistry()
        registry.register(metrics.Collector(
            manager.core, manager.event_loop, watchman,
            clock_watch.ClockWatch(manager.core, 'this manager')))
        return prometheus_client.generate_latest(registry).decode()
    assert 'climate_audit_drift' not in text()
    conf.set_override('audit_grace_seconds', 0, group='manager')
    spoil(manager)
    watchman.step(manager.clock())
    assert 'climate_audit_drift{kind="freepool"} 1.0' in text()
    assert 'climate_audit_drift{kind="left behind"} 0.0' in text()
