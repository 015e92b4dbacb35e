# SPDX-License-Identifier: Apache-2.0
"""The daemon of one manager: it starts and stops the RPC server, event loop and periodic tasks."""
from concurrent import futures
import os
import secrets
import socket
import threading

from oslo_log import log

from climate import cloud as clouds
from climate import enforcement
from climate import errors
from climate import version
from climate.db import engine
from climate.domain import heartbeat
from climate.manager import core
from climate.manager import endpoint
from climate.manager import heartbeats
from climate.manager import login
from climate.manager import metrics_server
from climate.manager import periodic
from climate.manager.events import loop
from climate.manager.health import checks
from climate.manager.leases import target_watch
from climate.manager.queue import fair_share
from climate.plugins import registry
from climate.rpc import bus
from climate.rpc import servers
from climate.rpc import transport

LOG = log.getLogger(__name__)

# The shortest sleep while a due event cannot be claimed.
_SHORTEST_SLEEP_SECONDS = 0.05
# The pause between two runs of a task that commits wake.
_SHORTEST_PAUSE_SECONDS = 0.03
# The pause between two checks of the login. A check asks Keystone only if the token expires soon.
_LOGIN_SECONDS = 10
# The default time limit of a stop, and two shares of it: running events may finish in the first
# share, and unfinished events are handed back in the second. Then threads and connections end.
_STOP_SECONDS = 60
_FINISHING = 0.75
_HANDING_BACK = 0.15


class Manager:
    """One manager, which works in threads of this process.

    :param serve_rpc: False if the API is in the same process and calls `endpoint` directly.
    :param login_seconds: the pause between two checks of the login.
    :param clock: returns the current time; None for the clock of the database.
    """

    def __init__(self, conf, serve_rpc=True, login_seconds=_LOGIN_SECONDS, clock=None):
        self._conf = conf
        self._serve_rpc = serve_rpc
        self._login_seconds = login_seconds
        self._stopping = threading.Event()
        self._idle = threading.Event()
        self._notified = threading.Event()
        self._connected = threading.Event()
        self._threads = []
        self._metrics = None
        database = engine.connect(conf)
        plugins = registry.Registry(conf)
        cloud = clouds.build(conf, plugins.services)
        self.core = core.Core(conf=conf, database=database, cloud=cloud, registry=plugins,
                              clock=clock or database.now, notify=self._notified.set,
                              enforcement=enforcement.load(conf, cloud))
        # In containers, managers may have the same process number and even the same host name.
        self.owner = f'{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}'
        self._login = login.Login(self.core, self.owner, self._connected.is_set)
        self.endpoint = endpoint.Endpoint(self.core, self._login)
        self.periodic = periodic.Periodic(self.core, self.owner, self._stopping)
        self.clock_watch = self.periodic.clock_watch
        # The server has the same name at each start, because RabbitMQ never deletes its queue.
        self._calls = servers.BusServer(
            lambda: servers.serve(conf, socket.gethostname(), self.endpoint))
        self._notifications = servers.BusServer(lambda: target_watch.listen(
            conf, self.periodic.watch, self.core.clock,
            [checks.ServiceListener(self.periodic.checks, self.core.clock)]),
            transport.nova_option(conf))
        # Each worker has a thread, so only the event loop limits how many events run.
        self._pool = futures.ThreadPoolExecutor(sum(loop.workers_of(conf).values()),
                                                thread_name_prefix='event')
        self.event_loop = loop.EventLoop(self.core, self.owner, self._pool.submit)
        self._heartbeat = heartbeats.Heartbeat(self.core, self.owner, self.event_loop, self._login)

    def start(self):
        """Start to answer calls, carry out events and run the periodic tasks.

        Separate threads open the connections to the bus, so this method does not wait for a broker.
        If this method fails, it has started nothing and may be called again.

        :raises ClimateError: the database does not answer.
        :raises ConfigurationError: /metrics cannot be served, or an address of the bus is wrong.
        """
        LOG.info('Manager %s: version %s starts', self.owner, version.text())
        self._heartbeat.begin()
        fair_share.forget(self.core)
        tasks = self.periodic.tasks()
        # This is the last step that can fail. Only after it the manager reports itself as running.
        self._metrics = metrics_server.serve(
            self.core, self.event_loop, self.periodic.audit_schedule, self.clock_watch,
            self.periodic.deliverers)
        self._guarded(self._heartbeat.beat, 'report as running')
        for work in (self._run_events, self._keep_claims):
            self._run(work)
        # The thread ends after the connections to the database are closed.
        threading.Thread(target=self.core.database.listen, name='listen', daemon=True).start()
        topics = self.periodic.wakeups()
        for name, (task, pause) in tasks.items():
            if name in topics:
                self._run(self._repeat_when_woken, name, task, pause, topics[name])
            else:
                self._run(self._repeat, name, task, pause)
        if self._serve_rpc:
            self._open(self._calls, self._connected.set)
        else:
            self._connected.set()
        if self._conf.nova.notifications:
            self._open(self._notifications)
        self._run(self._keep_logged_in)

    def stop(self, within_seconds=_STOP_SECONDS):
        """Stop taking new work, finish or hand back running events, and close everything.

        The manager still answers calls that it has already received. An event that is still in a
        cloud call after `within_seconds` is left unfinished, and its claim expires.
        """
        if self._stopping.is_set():
            return
        self._stopping.set()
        self.core.database.wakeups.wake()
        self._notified.set()
        self._connected.set()
        # Stop the servers first, so that new calls and notifications go to other managers.
        for server in (self._calls, self._notifications):
            server.stop()
        # The first thread runs the event loop. A manager that did not start has no threads.
        for thread in self._threads[:1]:
            thread.join()
        if not self.event_loop.await_idle(within_seconds * _FINISHING):
            self.event_loop.stop_running()
            if not self.event_loop.await_idle(within_seconds * _HANDING_BACK):
                LOG.warning('Manager %s: %s events are left unfinished', self.owner,
                            self.event_loop.running)
        for server in (self._calls, self._notifications):
            server.wait()
        self._pool.shutdown(wait=False)
        self._idle.set()
        for thread in self._threads:
            thread.join()
        self._guarded(self._heartbeat.end, 'report as stopped')
        if self._metrics is not None:
            self._metrics.shutdown()
            self._metrics.server_close()
        self.core.database.dispose()
        LOG.info('Manager %s: stopped', self.owner)

    def _run(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, name=work.__name__, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _open(self, server, then=lambda: None):
        """Start a BusServer in a thread, then call `then`. A stop does not wait for the thread."""
        def connect():
            while not self._guarded(server.start, 'connect to the bus'):
                if self._stopping.wait(self._login_seconds):
                    return
            then()

        threading.Thread(target=connect, name='connect', daemon=True).start()

    def _run_events(self):
        while not self._stopping.is_set():
            self._notified.clear()
            pause = self._conf.manager.poll_seconds
            if not self._login.may_act:
                self._notified.wait(pause)
                continue
            try:
                now = self.core.clock()
                if self.clock_watch.check(now):
                    pause = self._until_next(now, self.event_loop.tick(now))
            except errors.DatabaseUnreachable:
                # The database layer has logged the outage. A warning here would be repeated.
                LOG.debug('Events cannot be carried out now, they are tried again')
            except errors.ClimateError as error:
                LOG.warning('Events cannot be carried out now, they are tried again: %s',
                            error.message)
            except Exception:  # Outer loop: the next tick may succeed.
                LOG.exception('A tick of the event loop failed; the next one follows')
            self._notified.wait(pause)

    def _until_next(self, now, claimed):
        """Return the seconds to sleep after the tick at `now`.

        :param claimed: how many events that tick claimed.
        """
        longest = self._conf.manager.poll_seconds
        longest = min(longest, self.event_loop.rest_seconds or longest)
        moment = self.event_loop.next_moment()
        if moment is None:
            # No event is planned, or all workers are busy. A worker that becomes idle notifies.
            return longest
        shortest = 0 if claimed else _SHORTEST_SLEEP_SECONDS
        return min(longest, max(shortest, (moment - now).total_seconds()))

    def _keep_logged_in(self):
        self.core.counts.add_task('login')
        # Without a connection to the bus, the first check would report the manager as not ready.
        self._connected.wait(self._login_seconds)
        while not self._stopping.is_set():
            before = self._login.not_ready
            self._guarded(self._login.refresh, 'login')
            if self._login.not_ready != before:
                self._guarded(self._heartbeat.beat, 'report as running')
            self._stopping.wait(self._login_seconds)

    def _keep_claims(self):
        for name in ('prolong claims', 'report as running'):
            self.core.counts.add_task(name)
        pause = heartbeat.pause_seconds(self._conf.manager.claim_seconds)
        # Prolong claims until the last action ends, because no other manager may take over an event
        # while a stop waits for it.
        while not self._idle.wait(pause):
            self._guarded(self.event_loop.prolong, 'prolong claims')
            self._guarded(self._heartbeat.beat, 'report as running')

    def _repeat(self, name, task, pause):
        self.core.counts.add_task(name)
        # Each task has its own thread, so one that waits for the cloud does not delay the others.
        wait = 1
        while not self._stopping.wait(wait):
            self._guarded(lambda: task(self.core.clock()), name)
            wait = pause

    def _repeat_when_woken(self, name, task, pause, topic):
        """Run a task like `_repeat`, and also soon after a commit that concerns it."""
        self.core.counts.add_task(name)
        woken = self.core.database.wakeups.event(topic)
        # The short pause lets commits that follow each other wake the task only once.
        while not self._stopping.wait(_SHORTEST_PAUSE_SECONDS):
            woken.clear()
            self._guarded(lambda: task(self.core.clock()), name)
            woken.wait(pause)

    def _guarded(self, task, name):
        """Run a task; log a failure, count the run, and return whether it succeeded."""
        failed = True
        try:
            task()
            failed = False
        except errors.DatabaseUnreachable:
            LOG.debug('The periodic task "%s" failed; it is tried again', name)
        except errors.ClimateError as error:
            LOG.warning('The periodic task "%s" failed; it is tried again: %s', name,
                        error.message)
        except bus.BusUnreachable as error:
            LOG.error('The periodic task "%s" failed; it is tried again: %s', name, error)
        except Exception:  # Outer loop: the next run of the task may succeed.
            LOG.exception('The periodic task "%s" failed unexpectedly; it is tried again', name)
        self.core.counts.task(name, failed)
        return not failed
