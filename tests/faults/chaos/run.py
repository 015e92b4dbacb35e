# SPDX-License-Identifier: Apache-2.0
"""One run, from the first process to the verdict, bounded in time."""
import collections
import dataclasses
import datetime
import itertools
import time
import types

from support import billing_truths
from support import waiting

from chaos import clients
from chaos import injector
from chaos import judge
from chaos import recorded
from chaos import stage as stages
from chaos import tenants
from chaos import witness
from climate.db import engine
from climate.domain import acquire
from tools.cloud import commands

_SETTLE_SECONDS = 90
_RECOVERY_SECONDS = 5
_DAY = datetime.timedelta(days=1)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    :ivar wrong: the problems, in words; empty if every guarantee was kept.
    """

    wrong: list
    table: str


def play(plan):
    """Carry out a Plan; return its Outcome."""
    return play_on(stages.Stage(plan), _disturb)


def play_on(stage, disturb):
    """Start a Stage, disturb it, and return the Outcome.

    :param disturb: a function of the stage. It returns the Crowd that leased meanwhile, and the
        Faults.
    """
    plan = stage.plan
    try:
        stage.up()
        crowd, faults = disturb(stage)
        commands.write(plan.place.log / 'requests.log', '\n'.join(crowd.told))
        commands.write(plan.place.log / 'faults.log', '\n'.join(map(str, faults)))
        door = clients.Door(stage.urls, plan.chances('door'), plan.answer_seconds + 4)
        took = _settle(stage)
        for promise in crowd.promises:
            clients.resolve(door, promise)
        _settle(stage)
        found = recorded.read(stage.url)
        verdict = judge.judge(crowd.promises, found, faults, _RECOVERY_SECONDS, plan.late_seconds)
        seen = witness.testify(stage.state)
        verdict.doubled += seen.doubled
        verdict.lost += seen.lost
        heard = stage.subscriber.testify(found)
        verdict.lost += heard.lost
        verdict.doubled += heard.doubled
        verdict.lost += _billed(stage)
        drift = _drift(stage)
        answers = crowd.answers + door.answers
        return Outcome(
            wrong=[*verdict.lost, *verdict.doubled, *verdict.late, *drift, *crowd.errors],
            table=_table(plan, answers, faults, verdict, found, (seen, heard), took,
                         len(drift)))
    finally:
        stage.down()


def _disturb(stage):
    """Clients and faults side by side; returns the Crowd and the Faults when both are over."""
    crowd, faults = clients.Crowd(stage.plan, stage.urls), injector.Injector(stage)
    guests = tenants.Tenants(stage.state)
    for each in (crowd, guests, faults):
        each.start()
    until = time.monotonic() + stage.plan.seconds
    try:
        while time.monotonic() < until:
            stage.tend()
            time.sleep(0.5)
    finally:
        made = faults.stop()
        crowd.stop()
        guests.stop()
    return crowd, made


def _settle(stage):
    """Wait until nothing is left to do; returns the seconds that it took."""
    began = time.monotonic()
    stage.wait_until_well()

    def settled():
        stage.tend()
        return not recorded.read(stage.url).unfinished
    waiting.until(settled, lambda: (
        f'It does not settle: {recorded.read(stage.url).unfinished}; see {stage.plan.place.log}.'),
        _SETTLE_SECONDS)
    return time.monotonic() - began


def _billed(stage):
    """Wait until all is billed; return what is wrong with statements and usage, in words."""
    found = engine.Database(stage.url)
    today = found.now().replace(hour=0, minute=0, second=0, microsecond=0)
    until = time.monotonic() + _SETTLE_SECONDS
    try:
        while True:
            try:
                billing_truths.statements_are_right(found)
                billing_truths.usage_is_right(
                    types.SimpleNamespace(database=found, clock=found.now,
                                          registry=types.SimpleNamespace(pools={})),
                    today - _DAY, today + 2 * _DAY)
                return []
            except AssertionError as error:
                if time.monotonic() > until:
                    return [f'statements: {error}']
            stage.tend()
            time.sleep(1)
    finally:
        found.dispose()


def _drift(stage):
    """Return the drift of the cloud from the database, but for trusts, which the reaper deletes."""
    _, printed = stage.audit()
    rows = itertools.takewhile(bool, printed.splitlines()[1:])
    found = [line for line in rows if not line.startswith('trust')]
    status, printed = stage.audit('--fix', '--unknown')
    return found + ([] if status == 0 else printed.splitlines())


def _table(plan, answers, faults, verdict, found, witnesses, took, drift):
    seen, heard = witnesses
    injected = collections.Counter((fault.what, fault.target) for fault in faults)
    lines = [
        f'{plan.database}, {plan.seconds:.0f} s, seed {plan.seed}: {plan.managers} managers, '
        f'{plan.apis} APIs, {plan.clients} clients, {plan.hosts} hosts',
        f'requests  {sum(answers.values())}',
        *(f'  {method:7}{code!s:10} {count:6}' for (method, code), count
          in sorted(answers.items(), key=str)),
        f'faults    {len(faults)}, {sum(fault.ended - fault.began for fault in faults):.0f} s in '
        'all',
        *(f'  {what:7} {target:10} {count:6}' for (what, target), count
          in sorted(injected.items())),
        f'leases    {len(found.leases)}; hosts given {seen.given} times, '
        f'{seen.deleted} servers on them deleted; '
        f'{len(found.events)} events; settled {took:.1f} s after the last fault',
        f'notifications {heard.received} received, {heard.again} of them again',
        *(f'  {kind:12}{state:11} {count:6}' for (kind, state), count
          in sorted(_patient(found).items())),
        f'{found.statement_lines} lines of statements',
        f'lost      {len(verdict.lost)}',
        f'doubled   {len(verdict.doubled)}',
        f'late      {len(verdict.late)} (at most {verdict.latest_seconds:.1f} s in all, '
        f'{verdict.latest_without_fault_seconds:.1f} s without a fault)',
        f'drift     {drift}',
    ]
    return '\n'.join(lines)


def _patient(found):
    """{(type, state): how many leases} of those that took their time to be acquired."""
    kinds = {row['lease_id']: row['type'] for row in found.acquisitions}
    return collections.Counter((kinds[row['id']], row['state']) for row in found.leases
                               if kinds.get(row['id']) in acquire.LASTING)
