# SPDX-License-Identifier: Apache-2.0
"""One manager: RPC server and clockwork, started and stopped."""
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
from climate.manager import clockwork
from climate.manager import core
from climate.manager import endpoint
from climate.manager import expiry
from climate.manager import metrics
from climate.manager import notify
from climate.manager import patrol
from climate.manager import refresh
from climate.manager import trusts
from climate.manager import watch
from climate.plugins import registry
from climate.rpc import transport
from climate.strategies import registry as strategies

LOG = log.getLogger(__name__)

# No sleep is shorter than this while something due cannot be claimed.
_BREATH_SECONDS = 0.05
_FORGET = datetime.timedelta(hours=1)
# How long a stop may take unless somebody says, and the parts of it in which what runs may come to
# its end, and is handed back. The rest is for everything else that must be closed.
_STOP_SECONDS = 60
_FINISHING = 0.75
_HANDING_BACK = 0.15


def check(conf):
    """Nothing, where a manager can start with this configuration.

    :raises ClimateError: the database or the configuration of the cloud is not usable.
    :raises Unusable: a plugin is not, a strategy, or /metrics; the error says which.
    """
    registry.load(conf.plugins)
    strategies.check(conf)
    metrics.check(conf)
    clouds.build(conf)
    engine.connect(conf).dispose()


class Manager:
    """All that a manager does, in threads of this process.

    :param serve_rpc: False where the API is in the same process and calls `endpoint` itself.
    """

    def __init__(self, conf, serve_rpc=True):
        self._conf = conf
        self._serve_rpc = serve_rpc
        self._stopping = threading.Event()
        self._idle = threading.Event()
        self._woken = threading.Event()
        self._threads = []
        self._server = None
        database = engine.connect(conf)
        self.core = core.Core(conf=conf, database=database, cloud=clouds.build(conf),
                              registry=registry.Registry(conf), clock=database.now,
                              wake=self._woken.set)
        self.endpoint = endpoint.Endpoint(self.core)
        self.owner = f'{socket.gethostname()}:{os.getpid()}'
        self._watch = watch.Watch(self.core)
        self._patrol = patrol.Patrol(self.core, self.owner)
        self._listener = None
        self._pool = futures.ThreadPoolExecutor(conf.manager.workers,
                                                thread_name_prefix='event')
        self.clockwork = clockwork.Clockwork(self.core, self.owner, self._pool.submit)

    def start(self):
        """Answer calls and carry out events from here on."""
        self._since = self.core.clock()
        self._seen()
        self._listener = watch.listen(self._conf, self._watch, self.core.clock)
        metrics.serve(self.core, self.clockwork, self._patrol)
        for work in (self._run_events, self._keep_claims):
            self._run(work)
        self._events = self._threads[0]
        for errand, pause in self._errands():
            self._run(self._repeat, errand, pause)
        if self._serve_rpc:
            bus = transport.connect(self._conf)
            transport.limit_line(self._conf)
            self._server = messaging.get_rpc_server(
                bus, transport.target(self._conf, server=self.owner),
                [self.endpoint], executor=self._conf.manager.backend,
                serializer=transport.Serializer(),
                access_policy=messaging.DefaultRPCAccessPolicy)
            self._server.start(override_pool_size=self._conf.manager.rpc_workers)
        LOG.info('Manager %s: ready', self.owner)

    def stop(self, within_seconds=_STOP_SECONDS):
        """Take no new work, finish or hand back what runs, and leave.

        What is still in a call of the cloud after that time is left; its claim ends by itself.
        """
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._woken.set()
        for server in filter(None, (self._server, self._listener)):
            server.stop()
        self._events.join()
        if not self.clockwork.rest(within_seconds * _FINISHING):
            self.clockwork.give_up()
            if not self.clockwork.rest(within_seconds * _HANDING_BACK):
                LOG.warning('Manager %s: %s events are left unfinished', self.owner,
                            self.clockwork.running)
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

    def _errands(self):
        """Pairs (what is done again and again, seconds between two times); 0 seconds: never."""
        conf = self._conf.manager
        sender = notify.Sender(self.core, self.owner,
                               messaging.get_notification_transport(self._conf))
        looks = [plugin.audit_seconds for plugin in self.core.registry.plugins.values()
                 if plugin.audit_seconds]
        errands = [
            (sender.flush, 1),
            (functools.partial(expiry.expire, self.core), 1),
            (self._watch.look, min(looks, default=0)),
            (trusts.Reaper(self.core).reap, conf.trust_reaper_seconds),
            (refresh.Refresher(self.core, self.owner).refresh, conf.refresh_seconds),
            (self._patrol.step, self._patrol.pause_seconds),
        ]
        return [(errand, pause) for errand, pause in errands if pause]

    def _run_events(self):
        while not self._stopping.is_set():
            self._woken.clear()
            pause = self._conf.manager.poll_seconds
            try:
                now = self.core.clock()
                pause = self._until_next(now, self.clockwork.tick(now))
            except errors.ClimateError as error:
                LOG.warning('The events wait: %s', error.message)
            except Exception:  # The door of a tick: the next one may go well.
                LOG.exception('A look at the events failed; the next one follows')
            self._woken.wait(pause)

    def _until_next(self, now, claimed):
        """How many seconds to sleep after a look at `now` in which so many events were claimed."""
        longest = self._conf.manager.poll_seconds
        if not self.clockwork.room:
            # Nothing can be claimed before a worker is free, and that wakes us.
            return longest
        moment = self.clockwork.next_moment()
        if moment is None:
            return longest
        shortest = 0 if claimed else _BREATH_SECONDS
        return min(longest, max(shortest, (moment - now).total_seconds()))

    def _keep_claims(self):
        pause = heartbeat.pause_seconds(self._conf.manager.claim_seconds)
        # To the last action: what is finished after a stop must not be taken over meanwhile.
        while not self._idle.wait(pause):
            self._guarded(lambda: self.clockwork.prolong(self.core.clock()))
            self._guarded(self._seen)

    def _repeat(self, errand, pause):
        # Each in a thread of its own: one that waits for the cloud holds up no other.
        wait = 1
        while not self._stopping.wait(wait):
            self._guarded(lambda: errand(self.core.clock()))
            wait = pause

    def _seen(self):
        now = self.core.clock()
        with self.core.database.writer() as connection:
            managers.forget(connection, now - _FORGET)
            managers.seen(connection, self.owner, socket.gethostname(), self._since, now,
                          self.clockwork.running)

    @staticmethod
    def _guarded(errand):
        try:
            errand()
        except errors.ClimateError as error:
            LOG.warning('An errand waits: %s', error.message)
        except Exception:  # The door of an errand, as that of a tick.
            LOG.exception('An errand failed; it is tried again')
