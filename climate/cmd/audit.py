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
    :param unknown: whether to also repair objects without a record in the database.
    """
    auditor = audits.Auditor(parts)
    drifts = _compare_twice(auditor, parts.conf.manager.audit_grace_seconds, wait)
    if not fix or not drifts:
        print(table([(drift, drift.remedy) for drift in drifts], '--fix'))
        return DRIFT if drifts else 0
    outcomes = repairs.Repairs(parts, unknown).make(drifts)
    remaining = {drift.key for drift in audit.in_both(drifts, auditor.compare())}
    print(table([(drift, f'left: {outcomes[drift] or "it is there again"}'
                  if drift.key in remaining else 'repaired') for drift in drifts], 'NOW'))
    return DRIFT if remaining else 0


def table(rows, last):
    """Return a table of differences as text, with their number at the end.

    :param rows: pairs (Drift, text of the last column).
    :param last: the heading of the last column.
    """
    if not rows:
        return 'The cloud and the database agree.'
    lines = [(*_HEAD, last), *((drift.kind, drift.what, drift.problem, text)
                               for drift, text in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [_GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
             for line in lines]
    return '\n'.join([*shown, '', f'{len(rows)} found.'])


def _compare_twice(auditor, grace_seconds, wait):
    """Return the Drifts that two comparisons find; a change in progress is in only one of them."""
    drifts = auditor.compare()
    if not drifts or not grace_seconds:
        return drifts
    print(f'{len(drifts)} found; they are checked again in {grace_seconds} seconds.',
          file=sys.stderr, flush=True)
    wait(grace_seconds)
    return audit.in_both(drifts, auditor.compare())
