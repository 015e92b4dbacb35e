# SPDX-License-Identifier: Apache-2.0
"""Render series and their occurrences."""
import datetime

from climate import moments
from climate.api import owner_or_operator_text
from climate.api import times
from climate.domain import texts
from climate.domain.series import series_records


def series(shown, reads_names):
    """Render a Series without its occurrences.

    :param reads_names: whether the caller may see the names of the owner and of the project.
    """
    return {
        'id': shown.id, 'name': shown.name, 'user_id': shown.user_id,
        'user_name': shown.user_name if reads_names else None, 'project_id': shown.project_id,
        'project_name': shown.project_name if reads_names else None, 'status': shown.status,
        'start': datetime.datetime.fromisoformat(shown.start).isoformat(' '),
        'time_zone': shown.time_zone, 'duration': shown.seconds,
        'duration_text': moments.span(datetime.timedelta(seconds=shown.seconds)),
        'repeat': shown.rule, 'mode': shown.mode, 'same_resources': shown.same_resources,
        'reservations': [_reservation(item) for item in shown.request],
        'booked_until': times.shown(shown.booked_until),
        'created_at': times.shown(shown.created_at), 'updated_at': times.shown(shown.updated_at)}


def occurrence(shown, reads_operators_texts):
    """Render an Occurrence."""
    has_lease = shown.status == series_records.BOOKED or (
        shown.status == series_records.OFF and shown.due_at is not None)
    return {
        'number': shown.number, 'start': times.shown(shown.start), 'end': times.shown(shown.end),
        'status': shown.status, 'lease_id': shown.lease_id if has_lease else None,
        'changed': shown.changed,
        'problem': owner_or_operator_text.of(shown.problem_text, reads_operators_texts)}


def preview(shown, reads_operators_texts, reads_names):
    """Render an OccurrencePreview.

    :param reads_names: whether the caller may see the names of resources.
    """
    text = texts.stored(shown.problem, shown.owner_problem, '')
    return {
        'number': shown.number, 'start': times.shown(shown.start), 'end': times.shown(shown.end),
        'fits': shown.fits, 'counts': [len(names) for names in shown.resources],
        'resources': [list(names) for names in shown.resources] if reads_names else None,
        'problem': owner_or_operator_text.of(text, reads_operators_texts),
        'nearest': times.shown(shown.nearest)}


def _reservation(item):
    """Render the request of a reservation as the body of a lease has it."""
    shown = {'resource_type': item['resource_type'], **item['request']}
    return {**shown, **{name: item[name] for name in ('label', 'depends_on')
                        if item.get(name) is not None}}
