# SPDX-License-Identifier: Apache-2.0
"""The hours that hosts could sleep on the trace of `replay`, and the leases that start late.

``TRACE=FILE python -m benchmarks.energy [JOBS]``. The real rules of ``climate.domain.sleep`` decide
each five minutes which of 128 hosts sleep. Hosts, leases and wake-ups are counted, not carried
out.
"""
import collections
import dataclasses
import datetime
import sys

from benchmarks import replay
from climate.conf import energy
from climate.domain import sleep

_POLL = 300
_WAKE = 180
_DAY = 86400
_BEGIN = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


def _minutes(count):
    return datetime.timedelta(minutes=count)


@dataclasses.dataclass
class Host:
    """One host: since when it is in its state, its leases to come, when it fell asleep."""

    id: int
    state: str = sleep.AWAKE
    since: int = -_DAY
    booked: collections.deque = dataclasses.field(default_factory=collections.deque)
    last_end: int = 0
    fallen: list = dataclasses.field(default_factory=list)
    asleep: int = 0
    free_gaps: int = 0

    def settle(self, now):
        """Bring it to `now`: what woke up is awake, and leases that are over are forgotten."""
        if self.state == sleep.WAKING and self.since + _WAKE <= now:
            self.state, self.since = sleep.AWAKE, self.since + _WAKE
        while self.booked and self.booked[0][1] <= now:
            self.booked.popleft()

    def wake(self, now):
        if self.state == sleep.ASLEEP:
            self.asleep += now - self.since
            self.state, self.since = sleep.WAKING, now

    def fall(self, now):
        self.state, self.since = sleep.ASLEEP, now
        self.fallen.append(now)

    def seen(self, now):
        needed = self.booked[0][0] if self.booked else None
        return sleep.Sleeper(
            id=self.id, state=self.state, since=_moment(self.since),
            machine=f'host-{self.id}', group='host',
            is_free=needed is None or needed > now,
            needed_at=None if needed is None else _moment(needed),
            cycles=sum(each > now - _DAY for each in self.fallen[-20:]),
            wake=datetime.timedelta(seconds=_WAKE))


def _moment(second):
    return _BEGIN + datetime.timedelta(seconds=second)


@dataclasses.dataclass(frozen=True)
class Figures:
    """The effect of one setting."""

    share_of_best: float
    asleep_hours: float
    late: int
    late_seconds: int
    cycles_per_host_and_day: float


def simulated(jobs, rules, ahead):
    """Run the Jobs under some Rules; return Figures.

    :param rules: None: all hosts stay awake.
    :param ahead: how many seconds before its start each lease is known.
    """
    hosts = [Host(key) for key in range(replay.HOSTS)]
    known = collections.deque(jobs)
    starts = collections.deque()
    late, now, end = [], 0, max(job.end for job in jobs)
    while now < end:
        _go_on(hosts, known, starts, late, now + _POLL, ahead)
        now += _POLL
        for each in hosts:
            each.settle(now)
        if rules is not None:
            plan = sleep.plan([each.seen(now) for each in hosts], rules, _moment(now))
            for key in plan.wake:
                hosts[key].wake(now)
            for key in plan.sleep:
                hosts[key].fall(now)
    for each in hosts:
        each.wake(end)
        each.free_gaps += max(0, end - each.last_end - _WAKE)
    asleep = sum(each.asleep for each in hosts)
    return Figures(
        share_of_best=asleep / max(1, sum(each.free_gaps for each in hosts)),
        asleep_hours=asleep / 3600, late=len(late), late_seconds=max(late, default=0),
        cycles_per_host_and_day=sum(len(each.fallen) for each in hosts)
        / len(hosts) / (end / _DAY))


def _go_on(hosts, known, starts, late, until, ahead):
    """Book the leases that become known before `until`, and start those that begin before it."""
    while True:
        told = max(0, known[0].start - ahead) if known else until
        begins = starts[0][0].start if starts else until
        if min(told, begins) >= until:
            return
        if begins <= told:
            job, mine = starts.popleft()
            waits = [_ready_in(each, job.start) for each in mine]
            if max(waits) > 0:
                late.append(max(waits))
        else:
            job = known.popleft()
            starts.append((job, _booked(hosts, job, told)))


def _booked(hosts, job, now):
    free = [each for each in hosts if each.last_end <= job.start]
    # Those that are awake come first, as far as the default order of Climate does not say other.
    mine = sorted(free, key=lambda each: (each.state == sleep.ASLEEP, each.id))[:job.hosts]
    for each in mine:
        each.free_gaps += max(0, job.start - each.last_end - _WAKE)
        each.booked.append((job.start, job.end))
        each.last_end = job.end
    return mine


def _ready_in(host, now):
    host.settle(now)
    host.wake(now)
    return host.since + _WAKE - now if host.state == sleep.WAKING else 0


_DEFAULTS = {option.name: option.default for option in energy.GROUP.options}
#: The defaults of Climate.
RULES = sleep.SleepRules(
    lead=_minutes(_DEFAULTS['lead_minutes']), min_awake=_minutes(_DEFAULTS['min_awake_minutes']),
    min_asleep=_minutes(_DEFAULTS['min_asleep_minutes']),
    cycles_per_day=_DEFAULTS['cycles_per_day'], spare=_DEFAULTS['spare'])
AT_ONCE = sleep.SleepRules(lead=_minutes(0), min_awake=_minutes(0), min_asleep=_minutes(0),
                           cycles_per_day=10 ** 6)
SETTINGS = (
    ('always on', None, 0),
    ('off as soon as idle, nothing known ahead', AT_ONCE, 0),
    ('Climate, leases known one hour ahead', RULES, 3600),
    ('the same, no spare host', dataclasses.replace(RULES, spare=0), 3600),
    ('the same, 8 cycles a day', dataclasses.replace(RULES, cycles_per_day=8), 3600),
    ('the same, 4 cycles a day', dataclasses.replace(RULES, cycles_per_day=4), 3600),
    ('the same, at least 30 minutes awake', dataclasses.replace(
        RULES, min_awake=_minutes(30)), 3600),
    ('the same, at least 30 minutes asleep', dataclasses.replace(
        RULES, min_asleep=_minutes(30)), 3600),
    ('the same, awake 10 minutes before the start', dataclasses.replace(
        RULES, lead=_minutes(10)), 3600),
    ('Climate, nothing known ahead', RULES, 0),
    ('Climate, nothing known ahead, 32 spare hosts', dataclasses.replace(RULES, spare=32), 0),
)


def main():
    """Print the figures of all settings."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else None
    jobs = replay.accepted(replay.jobs()[:count])
    print(f'{len(jobs):,} leases on {replay.HOSTS} hosts; a host wakes up in {_WAKE} s')
    for name, rules, ahead in SETTINGS:
        found = simulated(jobs, rules, ahead)
        print(f'{name}: {found.asleep_hours:,.0f} host-hours asleep, {found.share_of_best:.1%} of '
              f'the best possible; {found.late:,} late starts, at most {found.late_seconds} s; '
              f'{found.cycles_per_host_and_day:.2f} cycles per host and day', flush=True)


if __name__ == '__main__':
    main()
