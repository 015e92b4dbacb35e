# SPDX-License-Identifier: Apache-2.0
"""The injector of faults: several lanes side by side, each with one fault after another."""
from concurrent import futures
import dataclasses
import threading
import time

_END_SECONDS = 180


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault, from one moment to another, in seconds since the epoch."""

    what: str
    target: str
    began: float
    ended: float


class _Lane:
    """Makes faults on one kind of targets until the signal to stop."""

    kinds = ()
    rest_seconds = (1, 6)

    def __init__(self, stage, stopping):
        self.stage = stage
        self.chances = stage.plan.chances(type(self).__name__)
        self.stopping = stopping

    def run(self):
        """Make faults until the signal to stop; return them when all are over."""
        faults = []
        while not self.stopping.wait(self.chances.uniform(*self.rest_seconds)):
            [kind] = self.chances.choices(*zip(*self.kinds, strict=True))
            target, program = self.target()
            began = time.time()
            kind(self, program, target)
            faults.append(Fault(kind.__name__.strip('_'), target, began, time.time()))
        return faults

    def target(self):
        """(name, Program) of the next victim."""
        raise NotImplementedError

    def pause(self, shortest, longest):
        """Wait while a fault lasts; stop early when the run ends."""
        self.stopping.wait(self.chances.uniform(shortest, longest))


def _kill(lane, program, _target):
    program.kill()
    lane.pause(0.2, 4)
    program.up()


def _restart(_lane, program, _target):
    program.end()
    program.up()


def _freeze(lane, program, _target):
    program.freeze()
    try:
        lane.pause(2, 15)
    finally:
        program.thaw()


def _cut(lane, _program, target):
    lane.stage.lines[target].cut()
    try:
        lane.pause(2, 12)
    finally:
        lane.stage.lines[target].join(broken=lane.chances.random() < 0.5)


class Daemons(_Lane):
    """Managers and APIs die, freeze, are restarted; managers lose their database."""

    kinds = ((_kill, 4), (_freeze, 4), (_restart, 2))

    def target(self):
        return self.chances.choice(sorted(self.stage.daemons.items()))


class Servers(_Lane):
    """The broker and the database die and freeze."""

    kinds = ((_kill, 3), (_freeze, 2), (_restart, 1))
    rest_seconds = (5, 15)

    def target(self):
        # The broker takes long to start: it dies less often, that there is something to judge.
        return self.chances.choice([('broker', self.stage.broker),
                                    *[('database', self.stage.database)] * 2])


class Lines(_Lane):
    """Managers are cut off from the database, and joined again."""

    kinds = ((_cut, 1),)

    def target(self):
        return self.chances.choice(sorted(self.stage.managers.items()))


LANES = {lane.__name__: lane for lane in (Daemons, Servers, Lines)}


class Injector:
    """The lanes of a plan. `stop` ends all faults, and starts what they left stopped."""

    def __init__(self, stage):
        self._stage = stage
        self._stopping = threading.Event()
        self._lanes = [LANES[name](stage, self._stopping) for name in stage.plan.lanes]
        self._pool = futures.ThreadPoolExecutor(len(self._lanes) or 1)
        self._running = []

    def start(self):
        self._running = [self._pool.submit(lane.run) for lane in self._lanes]

    def stop(self):
        """End it; returns the Faults in the order in which they began."""
        self._stopping.set()
        faults = [fault for running in self._running for fault in running.result(_END_SECONDS)]
        self._pool.shutdown()
        for program in (self._stage.database, self._stage.broker, *self._stage.daemons.values()):
            program.up()
        return sorted(faults, key=lambda fault: fault.began)
