# SPDX-License-Identifier: Apache-2.0
"""climate-manager audit: print the differences between the database and the cloud."""
import sys
import time

from climate import cloud as clouds
from climate.db import engine
from climate.domain import audit
from climate.manager import core
from climate.manager.audit import comparison as audits
from climate.manager.audit import repairs
from climate.plugins import registry

DRIFT = 2
_HEAD = ('WHAT', 'WHICH', 'WHAT IS WRONG')
_GAP = '  '


def run(conf):
    """Audit the installation of `conf`; return the exit status, 0 or DRIFT.

    :raises ClimateError: the database or the cloud does not answer.
    """
    database, plugins = engine.connect(conf), registry.Registry(conf)
    try:
        return examine(core.Core(conf=conf, database=database,
                                 cloud=clouds.build(conf, plugins.services), registry=plugins,
                                 clock=database.now),
                       conf.fix, unknown=conf.unknown)
    finally:
        database.dispose()


def examine(parts, fix, wait=time.sleep, unknown=False):
    """Print the differences, or with `fix` the results of their repairs; return the exit status.

    :param wait: called with the seconds between the two comparisons.
    :param unknown: whether to repair what the database has no record of, too.
    """
    auditor = audits.Auditor(parts)
    found = _look_twice(auditor, parts.conf.manager.audit_grace_seconds, wait)
    if not fix or not found:
        print(table([(each, each.remedy) for each in found], '--fix'))
        return DRIFT if found else 0
    outcomes = repairs.Repairs(parts, unknown).make(found)
    left = {each.key for each in audit.in_both(found, auditor.look())}
    print(table([(each, f'left: {outcomes[each] or "it is there again"}' if each.key in left
                  else 'repaired') for each in found], 'NOW'))
    return DRIFT if left else 0


def table(rows, last):
    """Return a table as text, with a summary at its end.

    :param rows: pairs (Drift, text of the last column).
    :param last: the heading of the last column.
    """
    if not rows:
        return 'The cloud and the database agree.'
    lines = [(*_HEAD, last), *((each.kind, each.what, each.problem, text)
                               for each, text in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [_GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
             for line in lines]
    return '\n'.join([*shown, '', f'{len(rows)} found.'])


def _look_twice(auditor, grace_seconds, wait):
    """Return the Drifts that two comparisons find, to leave out changes in progress."""
    found = auditor.look()
    if not found or not grace_seconds:
        return found
    print(f'{len(found)} found; they are checked again in {grace_seconds} seconds.',
          file=sys.stderr, flush=True)
    wait(grace_seconds)
    return audit.in_both(found, auditor.look())
