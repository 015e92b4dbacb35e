# SPDX-License-Identifier: Apache-2.0
"""climate-manager audit: what differs between the accounts and the cloud, as a table."""
import sys
import time

from climate import cloud as clouds
from climate.db import engine
from climate.domain import audit
from climate.manager import audit as audits
from climate.manager import core
from climate.manager import repairs
from climate.plugins import registry

DRIFT = 2
_HEAD = ('WHAT', 'WHICH', 'WHAT IS WRONG')
_GAP = '  '


def run(conf):
    """Audit the installation that `conf` describes; returns the exit status, 0 or DRIFT.

    :raises ClimateError: the database or the cloud does not answer.
    """
    database = engine.connect(conf)
    try:
        return examine(core.Core(conf=conf, database=database, cloud=clouds.build(conf),
                                 registry=registry.Registry(conf), clock=database.now),
                       conf.fix)
    finally:
        database.dispose()


def examine(parts, fix, wait=time.sleep):
    """Print what differs, or with `fix` what became of it; returns the exit status.

    :param wait: called with the seconds between two looks.
    """
    auditor = audits.Auditor(parts)
    found = _look_twice(auditor, parts.conf.manager.audit_grace_seconds, wait)
    if not fix or not found:
        print(table([(each, each.remedy) for each in found], '--fix'))
        return DRIFT if found else 0
    outcomes = repairs.Repairs(parts).make(found)
    left = {each.key for each in audit.in_both(found, auditor.look())}
    print(table([(each, f'left: {outcomes[each] or "it is there again"}' if each.key in left
                  else 'repaired') for each in found], 'NOW'))
    return DRIFT if left else 0


def table(rows, last):
    """The rows, pairs (Drift, text of the last column), as text with a summary at its end."""
    if not rows:
        return 'The cloud is as the accounts say.'
    lines = [(*_HEAD, last), *((each.kind, each.what, each.problem, text)
                               for each, text in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [_GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
             for line in lines]
    return '\n'.join([*shown, '', f'{len(rows)} found.'])


def _look_twice(auditor, grace_seconds, wait):
    """The Drifts that were there in two looks, so that nobody was just in the middle of it."""
    found = auditor.look()
    if not found or not grace_seconds:
        return found
    print(f'{len(found)} found; they are looked at again in {grace_seconds} seconds.',
          file=sys.stderr, flush=True)
    wait(grace_seconds)
    return audit.in_both(found, auditor.look())
