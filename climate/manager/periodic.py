# SPDX-License-Identifier: Apache-2.0
"""The table of the periodic tasks of a manager.

A task that processes items isolates each of them with ``core.isolated``, so that one failing item
does not stop the others. A test makes an item of each task fail.
"""
import functools

from climate import notifiers
from climate import power as power_drivers
from climate.db import wakeups
from climate.manager.audit import schedule
from climate.manager.billing import biller
from climate.manager.booking import offer_expiry
from climate.manager.booking import refused_demand
from climate.manager.energy import power_saving
from climate.manager.events import clock_watch
from climate.manager.health import checks
from climate.manager.idle import detection
from climate.manager.leases import early_creations
from climate.manager.leases import enforcement_reports
from climate.manager.leases import health_moves
from climate.manager.leases import target_watch
from climate.manager.leases import trust_reaper
from climate.manager.limits import extension_openings
from climate.manager.limits import near
from climate.manager.maintenance import windows
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.manager.notifications import limit_notices
from climate.manager.notifications import outbox
from climate.manager.notifications import reminders
from climate.manager.pools import refresh
from climate.manager.queue import fair_share
from climate.manager.queue import given_back
from climate.manager.series import horizon
from climate.manager.usage import days
from climate.rpc import transport

# How often the manager checks whether a new slot for samples of use has begun.
_SAMPLE_SECONDS = 20
# The time for which connections to receivers stay open without work.
_LINGER_SECONDS = 10


class Periodic:
    """The periodic tasks of one manager, with the objects that they share with other threads.

    :param owner: the name of the manager.
    :param stopping: an event that is set when the manager stops.
    """

    def __init__(self, core, owner, stopping):
        self._core = core
        self._owner = owner
        self._stopping = stopping
        self._power = power_drivers.load(core.conf, core.cloud)
        self.clock_watch = clock_watch.ClockWatch(core, owner)
        self.watch = target_watch.TargetWatch(core)
        self.checks = checks.HealthChecks(core, owner)
        self._refresher = refresh.Refresher(core, owner)
        self.audit_schedule = schedule.AuditSchedule(core, owner)
        self.deliverers = [delivery.Deliverer(core, owner, name, notifier)
                           for name, notifier in notifiers.load(core.conf).items()]

    def wakeups(self):
        """Return {name of a task: the topic of the commits that it must not wait for}."""
        return {
            'copy notifications to subscriptions': wakeups.OUTBOX,
            'send notifications to the bus': wakeups.COPIED,
            **{_delivery_name(deliverer): wakeups.DELIVERIES for deliverer in self.deliverers}}

    def tasks(self):
        """Return {name: (periodic task, seconds between two runs)} of the enabled tasks.

        A task is a function of the current time.
        """
        enabled = {**self._always(), **{
            # With a wrong clock, these tasks could expire offers or delete records too early.
            name: (functools.partial(self._unless_doubted, task), pause)
            for name, (task, pause) in self._by_the_clock().items()}}
        # A task with a pause of 0 seconds is off.
        return {name: (task, pause) for name, (task, pause) in enabled.items() if pause}

    def _always(self):
        core, conf = self._core, self._core.conf
        sender = outbox.Sender(core, self._owner, transport.connect_notifications(conf))
        audit_pauses = [plugin.audit_seconds for plugin in core.registry.plugins.values()
                        if plugin.audit_seconds]
        return {
            'send notifications to the bus': (sender.flush, 1),
            'copy notifications to subscriptions': (functools.partial(fan_out.fan_out, core), 1),
            # Each transport has its own thread, so a slow mail server does not delay webhooks.
            **{_delivery_name(deliverer): (functools.partial(self._deliver, deliverer), 1)
               for deliverer in self.deliverers},
            'watch leased targets': (self.watch.check_all, min(audit_pauses, default=0)),
            'refresh facts': (self._refresher.refresh, conf.manager.refresh_seconds),
        }

    def _by_the_clock(self):
        core, conf = self._core, self._core.conf
        reaper_seconds, poll_seconds = conf.manager.trust_reaper_seconds, conf.health.poll_seconds
        tasks = {
            'expire offers': (functools.partial(offer_expiry.expire, core), 1),
            'release resources that were returned': (
                functools.partial(given_back.expire, core), 1),
            'remind of ends': (functools.partial(reminders.remind, core),
                               conf.notifications.reminder_seconds),
            'report extensions that are possible': (
                functools.partial(extension_openings.report, core),
                extension_openings.PAUSE_SECONDS),
            'report limits that are near': (functools.partial(limit_notices.report_near, core),
                                            limit_notices.PAUSE_SECONDS),
            'report limits of the limit book that are near': (
                functools.partial(self._if_eldest, functools.partial(near.report_near, core)),
                near.PAUSE_SECONDS),
            'delete unused trusts': (trust_reaper.TrustReaper(core).reap, reaper_seconds),
            'delete early creations': (early_creations.EarlyCreationReaper(core).reap,
                                       reaper_seconds),
            'bill': (biller.Biller(core).bill, conf.billing.interval_seconds),
            **{name: (functools.partial(self._if_eldest, task), poll_seconds) for name, task in (
                ('check health', self.checks.check),
                ('move leases off broken resources', health_moves.HealthMoves(core).move_soon),
                ('flag running leases', self._refresher.flag_leases),
                ('carry out maintenance', windows.Windows(core, self._owner).carry_on))},
            'book series': (functools.partial(self._if_eldest, horizon.Horizon(core).step),
                            conf.series.poll_seconds),
            'watch idle leases': (detection.IdleDetection(core, self._owner).step,
                                  _SAMPLE_SECONDS if conf.idle.sample_minutes else 0),
            'close days of usage': (functools.partial(days.close, core.database),
                                    days.PAUSE_SECONDS),
            'delete old refusals': (functools.partial(refused_demand.delete_old, core),
                                    refused_demand.PAUSE_SECONDS),
            'audit': (self.audit_schedule.step, self.audit_schedule.pause_seconds),
        }
        if fair_share.is_on(conf):
            tasks['order the wait queue by the use of projects'] = (
                functools.partial(self._if_eldest, fair_share.FairShares(core).renew),
                fair_share.PAUSE_SECONDS)
        if core.enforcement is not None:
            tasks['report to the enforcement service'] = (
                enforcement_reports.EnforcementReports(core).step, 1)
        if self._power is not None:
            tasks['save energy'] = (power_saving.PowerSaving(core, self._owner, self._power).step,
                                    conf.energy.poll_seconds)
        return tasks

    def _unless_doubted(self, task, now):
        """Run a task that depends on the time, unless the clock is in doubt."""
        if self.clock_watch.check(now):
            task(now)

    def _deliver(self, deliverer, now):
        """Send due deliveries until the manager stops or the clock is in doubt."""
        if self.clock_watch.check(now):
            deliverer.deliver(now, lambda moment: (
                not self._stopping.is_set() and self.clock_watch.check(moment)), _LINGER_SECONDS)

    def _if_eldest(self, task, now):
        """Run a task if this is the manager that has run longest."""
        if self.checks.is_mine(now):
            task(now)


def _delivery_name(deliverer):
    return f'deliver notifications by {deliverer.name}'
