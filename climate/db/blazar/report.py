# SPDX-License-Identifier: Apache-2.0
"""The report of an import from Blazar, as text for an operator."""
import collections
from collections.abc import Iterator

from climate.db.blazar import imported_records
from climate.domain import lifecycle

_MOMENT = '%Y-%m-%d %H:%M UTC'


def lines(converted: imported_records.Conversion) -> Iterator[str]:
    """Yield the lines of the report: what is imported, the overlaps, and what is not kept."""
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
    if converted.problems:
        yield ''
        yield 'These are not imported as they are:'
        for problem in converted.problems:
            yield '  ' + ' '.join(filter(None, (
                f'{problem.what}: {problem.why}', problem.happens, problem.advice)))


def _named(lease):
    lease_id, name, project_id = lease
    return f'lease {lease_id} ({name}) of project {project_id}'
