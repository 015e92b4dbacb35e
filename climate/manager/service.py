# SPDX-License-Identifier: Apache-2.0
"""The daemon of one manager: it starts and stops the RPC server, event loop and periodic tasks."""
from concurrent import futures
import datetime
import functools
import os
import socket
import threading

from oslo_log import log
import oslo_messaging as messaging

from climate import cloud as clouds
from climate import errors
from climate.db import engine
from climate.db import managers
from climate.domain import heartbeat
from climate.forecasts import registry as forecasts
from climate.manager import core
from climate.manager import endpoint
from climate.manager import login
from climate.manager import metrics
from climate.manager.audit import schedule
from climate.manager.billing import biller
from climate.manager.booking import offer_expiry
from climate.manager.energy import keeper
from climate.manager.events import clock_watch
from climate.manager.events import loop
from climate.manager.health import checks
from climate.manager.idle import rules as idle_rules
from climate.manager.idle import watch as idle_watch
from climate.manager.leases import early
from climate.manager.leases import healing
from climate.manager.leases import target_watch
from climate.manager.leases import trusts
from climate.manager.maintenance import windows
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.manager.notifications import near_limits
from climate.manager.notifications import outbox
from climate.manager.notifications import reminders
from climate.manager.notifications import sealing
from climate.manager.planning import retention
from climate.manager.pools import refresh
from climate.manager.usage import days
from climate.notifiers import registry as notifiers
from climate.plugins import registry
from climate.plugins.health import registry as health_sources
from climate.power import registry as power_drivers
from climate.rpc import bus
from climate.rpc import transport
from climate.strategies import registry as strategies

LOG = log.getLogger(__name__)

# The shortest sleep while a due event cannot be claimed.
_SHORTEST_SLEEP_SECONDS = 0.05
_FORGET = datetime.timedelta(hours=1)
# The pause between two looks at the login. One asks Keystone only if the token expires soon.
_LOGIN_SECONDS = 10
# How often it is looked whether a new slot for samples of use has begun.
_SAMPLE_SECONDS = 20
# The default time limit of a stop, the share of it in which running events may finish, and the
# share in which the others are handed back. The rest is for closing everything else.
_STOP_SECONDS = 60
_FINISHING = 0.75
_HANDING_BACK = 0.15


def check(conf):
    """Raise an error unless a manager can start with this configuration.

    :raises ClimateError: the database or the configuration of the cloud cannot be used.
    :raises Unusable: a plugin, an adapter, a strategy, a notifier, a source of health, a power
        driver, /metrics or [idle] cannot be used; the error says which.
    :raises LoginRefused: the bus refuses the login.
    """
    classes = registry.load(conf.plugins)
    strategies.check(conf)
    forecasts.check(conf)
    metrics.check(conf)
    idle_rules.check(conf)
    sealing.Sealer(conf)
    for notifier in notifiers.load(conf).values():
        notifier.check()
    health_sources.load(conf)
    power_drivers.load(conf, clouds.build(conf, registry.services(classes)))
    try:
        bus.reach(conf, retries=0)
    except bus.LoginRefused:
        raise
    except bus.Unreachable as error:
        LOG.warning('The bus does not answer; the manager waits for it: %s', error)
    engine.connect(conf).dispose()


class Manager:
    """One manager, which works in threads of this process.

    :param serve_rpc: False if the API is in the same process and calls `endpoint` directly.
    :param login_seconds: the pause between two looks at the login.
    :param clock: returns the present moment; None: the clock of the database.
    """

    def __init__(self, conf, serve_rpc=True, login_seconds=_LOGIN_SECONDS, clock=None):
        self._conf = conf
        self._serve_rpc = serve_rpc
        self._login_seconds = login_seconds
        self._stopping = threading.Event()
        self._idle = threading.Event()
        self._notified = threading.Event()
        self._threads = []
        self._server = None
        database = engine.connect(conf)
        plugins = registry.Registry(conf)
        self.core = core.Core(conf=conf, database=database,
                              cloud=clouds.build(conf, plugins.services), registry=plugins,
                              clock=clock or database.now, notify=self._notified.set)
        self._power = power_drivers.load(conf, self.core.cloud)
        self.owner = f'{socket.gethostname()}:{os.getpid()}'
        self._login = login.Login(self.core, self.owner)
        self.endpoint = endpoint.Endpoint(self.core, self._login)
        self.clock_watch = clock_watch.ClockWatch(self.core, self.owner)
        self._watch = target_watch.Watch(self.core)
        self._checks = checks.Checks(self.core, self.owner)
        self._healing = healing.Healing(self.core)
        self._windows = windows.Windows(self.core, self.owner)
        self._audit_schedule = schedule.AuditSchedule(self.core, self.owner)
        self._deliverers = [delivery.Deliverer(self.core, self.owner, name, notifier)
                            for name, notifier in notifiers.load(conf).items()]
        self._listener = None
        # A thread for each worker, so the event loop alone says how many run of which kinds.
        self._pool = futures.ThreadPoolExecutor(sum(loop.workers_of(conf).values()),
                                                thread_name_prefix='event')
        self.event_loop = loop.EventLoop(self.core, self.owner, self._pool.submit)

    def start(self):
        """Start to answer calls, carry out events and run the periodic tasks."""
        self._since = self.core.clock()
        self._seen()
        self._listener = target_watch.listen(
            self._conf, self._watch, self.core.clock,
            [checks.Listener(self._checks, self.core.clock)])
        metrics.serve(self.core, self.event_loop, self._audit_schedule, self.clock_watch,
                      self._deliverers)
        for work in (self._run_events, self._keep_claims):
            self._run(work)
        self._events = self._threads[0]
        for task, pause in self._periodic_tasks():
            self._run(self._repeat, task, pause)
        if self._serve_rpc:
            connected = transport.connect(self._conf)
            transport.limit_prefetch(self._conf)
            self._server = messaging.get_rpc_server(
                connected, transport.target(self._conf, server=self.owner),
                [self.endpoint], executor=self._conf.manager.backend,
                serializer=transport.Serializer(),
                access_policy=messaging.DefaultRPCAccessPolicy)
            self._server.start(override_pool_size=self._conf.manager.rpc_workers)
        # Last, because it says when the manager is ready.
        self._run(self._keep_logged_in)

    def stop(self, within_seconds=_STOP_SECONDS):
        """Stop taking new work, finish or hand back running events, and close everything.

        An event that is still in a cloud call after `within_seconds` is left unfinished; its claim
        expires.
        """
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._notified.set()
        for server in filter(None, (self._server, self._listener)):
            server.stop()
        self._events.join()
        if not self.event_loop.rest(within_seconds * _FINISHING):
            self.event_loop.give_up()
            if not self.event_loop.rest(within_seconds * _HANDING_BACK):
                LOG.warning('Manager %s: %s events are left unfinished', self.owner,
                            self.event_loop.running)
        for server in filter(None, (self._server, self._listener)):
            server.wait()
        self._pool.shutdown(wait=False)
        self._idle.set()
        for thread in self._threads:
            thread.join()
        with self.core.database.writer() as connection:
            managers.gone(connection, self.owner)
        self.core.database.dispose()
        LOG.info('Manager %s: stopped', self.owner)

    def _run(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, name=work.__name__, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _periodic_tasks(self):
        """Return pairs (periodic task, seconds between two runs) of the tasks that are enabled."""
        conf = self._conf.manager
        sender = outbox.Sender(self.core, self.owner,
                               messaging.get_notification_transport(self._conf))
        looks = [plugin.audit_seconds for plugin in self.core.registry.plugins.values()
                 if plugin.audit_seconds]
        tasks = [
            (sender.flush, 1),
            # A thread for each transport: a slow mail server delays neither webhooks nor the bus.
            (functools.partial(fan_out.fan_out, self.core), 1),
            # A clock that has jumped would give up what waits, and delete the logs.
            *((functools.partial(self._deliver, each), 1) for each in self._deliverers),
            (self._watch.look, min(looks, default=0)),
            (refresh.Refresher(self.core, self.owner).refresh, conf.refresh_seconds),
            *((functools.partial(self._unless_doubted, task), pause) for task, pause in (
                (functools.partial(offer_expiry.expire, self.core), 1),
                (functools.partial(reminders.remind, self.core),
                 self._conf.notifications.reminder_seconds),
                (functools.partial(near_limits.look, self.core), near_limits.PAUSE_SECONDS),
                (trusts.Reaper(self.core).reap, conf.trust_reaper_seconds),
                (early.Reaper(self.core).reap, conf.trust_reaper_seconds),
                (biller.Biller(self.core).bill, self._conf.billing.interval_seconds),
                *((functools.partial(self._if_mine, task), self._conf.health.poll_seconds)
                  for task in (self._checks.look, self._healing.heal, self._windows.carry_on)),
                (idle_watch.Watch(self.core, self.owner).step,
                 _SAMPLE_SECONDS if self._conf.idle.sample_minutes else 0),
                *self._energy(),
                (functools.partial(days.close, self.core.database), days.PAUSE_SECONDS),
                (functools.partial(retention.forget, self.core), retention.PAUSE_SECONDS),
                (self._audit_schedule.step, self._audit_schedule.pause_seconds))),
        ]
        # A task with a pause of 0 seconds is off.
        return [(task, pause) for task, pause in tasks if pause]

    def _energy(self):
        """Return [(the task that lets resources sleep, its pause)]; nothing without a driver."""
        if self._power is None:
            return []
        return [(keeper.Keeper(self.core, self.owner, self._power).step,
                 self._conf.energy.poll_seconds)]

    def _unless_doubted(self, task, now):
        """Run a task that deletes or repairs what is due, unless the clock is doubted."""
        if self.clock_watch.look(now):
            task(now)

    def _deliver(self, deliverer, now):
        """Let a Deliverer send what is due, also for long, unless the clock is doubted."""
        if self.clock_watch.look(now):
            deliverer.deliver(now, lambda moment: (
                not self._stopping.is_set() and self.clock_watch.look(moment)))

    def _if_mine(self, task, now):
        """Run a task of health or maintenance if this is the manager that has run longest."""
        if self._checks.is_mine(now):
            task(now)

    def _run_events(self):
        while not self._stopping.is_set():
            self._notified.clear()
            pause = self._conf.manager.poll_seconds
            if not self._login.may_act:
                self._notified.wait(pause)
                continue
            try:
                now = self.core.clock()
                if self.clock_watch.look(now):
                    pause = self._until_next(now, self.event_loop.tick(now))
            except errors.ClimateError as error:
                LOG.warning('Events cannot be carried out now, they are tried again: %s',
                            error.message)
            except Exception:  # The door of a tick: the next one may succeed.
                LOG.exception('A tick of the event loop failed; the next one follows')
            self._notified.wait(pause)

    def _until_next(self, now, claimed):
        """Return the seconds to sleep after the tick at `now`.

        :param claimed: how many events that tick claimed.
        """
        longest = self._conf.manager.poll_seconds
        # While no worker is free, no event can be claimed, and a free worker notifies us.
        longest = min(longest, self.event_loop.rest_seconds or longest)
        moment = self.event_loop.next_moment()
        if moment is None:
            return longest
        shortest = 0 if claimed else _SHORTEST_SLEEP_SECONDS
        return min(longest, max(shortest, (moment - now).total_seconds()))

    def _keep_logged_in(self):
        while not self._stopping.is_set():
            self._guarded(self._login.look)
            self._stopping.wait(self._login_seconds)

    def _keep_claims(self):
        pause = heartbeat.pause_seconds(self._conf.manager.claim_seconds)
        # Prolong until the last action ends: while a stop waits for an event to finish, no other
        # manager may take that event over.
        while not self._idle.wait(pause):
            self._guarded(self.event_loop.prolong)
            self._guarded(self._seen)

    def _repeat(self, task, pause):
        # Each task has its own thread, so one that waits for the cloud does not delay the others.
        wait = 1
        while not self._stopping.wait(wait):
            self._guarded(lambda: task(self.core.clock()))
            wait = pause

    def _seen(self):
        now = self.core.clock()
        with self.core.database.writer() as connection:
            managers.forget(connection, now - _FORGET)
            managers.seen(connection, self.owner, socket.gethostname(), self._since, now,
                          self.event_loop.running)

    @staticmethod
    def _guarded(task):
        try:
            task()
        except errors.ClimateError as error:
            LOG.warning('A periodic task failed, it is tried again: %s', error.message)
        except Exception:  # The door of a periodic task, as that of a tick.
            LOG.exception('A periodic task failed unexpectedly; it is tried again')
