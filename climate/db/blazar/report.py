# SPDX-License-Identifier: Apache-2.0
"""The reports of an import from Blazar and of an export to it, as text for an operator.

Names of Blazar can contain any characters. In a line of a report, characters that cannot be
printed, such as those of an escape sequence of a terminal, are shown as in Python: ``\\x1b``.
"""
import collections
from collections.abc import Iterator

from climate.db.blazar import exporting
from climate.db.blazar import imported_records
from climate.domain import lifecycle

_MOMENT = '%Y-%m-%d %H:%M UTC'


def lines(converted: imported_records.Conversion) -> Iterator[str]:
    """Return the lines of the report: what is imported, the overlaps, and what is not kept."""
    return map(_printable, _import_lines(converted))


def export_lines(chosen: exporting.Export) -> Iterator[str]:
    """Return the lines of the report of an export: what is written, and what is not kept."""
    return map(_printable, _export_lines(chosen))


def _import_lines(converted):
    pools = collections.Counter(resource.pool for resource in converted.resources)
    yield ', '.join(f'{count} of the pool {pool}' for pool, count in sorted(pools.items())) or (
        'no resources')
    states = collections.Counter(imported.lease.state for imported in converted.leases)
    yield f'{len(converted.leases)} leases' + ''.join(
        f', {states[state]} {state}' for state in lifecycle.STATES if states[state])
    if converted.overlaps:
        yield ''
        yield 'Blazar allocated these resources twice. The lease that was created first keeps them:'
        names = collections.defaultdict(list)
        for overlap in converted.overlaps:
            names[overlap.start, overlap.end, overlap.kept, overlap.lost].append(overlap.resource)
        for (start, end, kept, lost), resources in names.items():
            yield (f'  {", ".join(resources)}, {start:{_MOMENT}} to {end:{_MOMENT}}: '
                   f'{_named(kept)} keeps them, {_named(lost)} is imported in ERROR')
    yield from _problem_lines(converted.problems, 'These are not imported as they are:')


def _export_lines(chosen):
    states = collections.Counter(lease.state for lease in chosen.leases)
    yield f'{len(chosen.leases)} leases of Climate to write' + ''.join(
        f', {states[state]} {state}' for state in lifecycle.STATES if states[state])
    yield f'{len(chosen.deleted)} leases to delete'
    yield (f'{len(chosen.contents.untouched)} leases stay as Blazar has them, because Climate has '
           'not acted on them')
    if chosen.pending:
        yield (f'{len(chosen.pending)} leases start later: the export creates their objects in the '
               'cloud')
    yield from _problem_lines(chosen.problems, 'These are not exported as they are:')


def _problem_lines(problems, heading):
    for place, problem in enumerate(problems):
        if not place:
            yield ''
            yield heading
        yield '  ' + ' '.join(filter(None, (
            f'{problem.what}: {problem.why}', problem.happens, problem.advice)))


def _named(lease):
    lease_id, name, project_id = lease
    return f'lease {lease_id} ({name}) of project {project_id}'


def _printable(line):
    return ''.join(letter if letter.isprintable() else letter.encode('unicode_escape').decode()
                   for letter in line)
