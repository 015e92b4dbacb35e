# SPDX-License-Identifier: Apache-2.0
"""Render usage and utilisation as JSON-ready dicts and as CSV tables."""
import csv
import io
import re

import webob
from webob import acceptparse

from climate import errors
from climate.api import hooks
from climate.api import times
from climate.api import usage_request
from climate.domain import usage_figures
from climate.domain import usage_groups
from climate.domain import utilisation

CSV = 'text/csv'
# A spreadsheet interprets a cell that begins with one of these characters as a formula.
_FORMULA = ('=', '+', '-', '@', '\t', '\r')
_NUMBER = re.compile(r'-?[0-9]+(\.[0-9]+)?')
# {word of group_by: the field of an answer}
_FIELDS = {'project': 'project_id', 'user': 'user_id', 'type': 'resource_type', 'pool': 'pool',
           'day': 'day'}


def wants_csv(request):
    """Return whether the caller requests CSV, by ?format=csv or else by the header Accept.

    :raises BadField: the format is unknown.
    """
    format_name = request.GET.get('format')
    if format_name is not None and format_name not in usage_request.FORMATS:
        raise errors.BadField(field='format', reason=(
            f'"{format_name[:40]}" is not one of {", ".join(usage_request.FORMATS)}.'))
    if format_name is not None:
        return format_name == 'csv'
    offers = acceptparse.create_accept_header(hooks.accepted(request)).acceptable_offers(
        ['application/json', CSV])
    return bool(offers) and offers[0][0] == CSV


def as_csv(header, rows):
    """Return a response with a CSV table (RFC 4180).

    An apostrophe is put before text that a spreadsheet would evaluate as a formula.
    """
    text = io.StringIO(newline='')
    writer = csv.writer(text)
    for row in (header, *rows):
        writer.writerow([_plain(cell) for cell in row])
    return webob.Response(content_type=CSV, charset='utf-8', body=text.getvalue().encode())


def _plain(cell):
    """Return a cell as text that is not a formula; numbers stay as they are."""
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def usage(report):
    """Return a ``usage_groups.UsageReport`` as JSON-ready data."""
    return {'usage': {
        'start': times.shown(report.start), 'end': times.shown(report.end),
        'counted_to': times.shown(report.counted_to), 'group_by': list(report.group_by),
        'groups': [{**_keys(group), **_figures(group)} for group in report.groups],
        'total': _figures(report.total)}}


def usage_table(report):
    """Return (header, rows) of a ``usage_groups.UsageReport``: a row for each group."""
    figures = [(figure, name) for figure in usage_figures.FIGURES
               for name in (None, *report.total.units)]
    reasons = list(report.total.reasons)
    header = [*(_FIELDS.get(word, word) for word in report.group_by),
              *(f'{figure}_{name or "resource"}_hours' for figure, name in figures),
              *(f'refused_{reason}_resource_hours' for reason in reasons)]
    return header, [
        [*('' if group.keys[word] is None else group.keys[word] for word in report.group_by),
         *(_hours(group.seconds[figure] if name is None else
                  group.units.get(name, {}).get(figure, 0)) for figure, name in figures),
         *(_hours(group.reasons.get(reason, 0)) for reason in reasons)]
        for group in report.groups]


def pool_steps(answer):
    """Return a ``utilisation.UtilisationAnswer`` as JSON-ready data."""
    pools = {}
    for step in answer.steps:
        pools.setdefault(step.pool, []).append(_step(step, answer))
    return {'utilisation': {
        'start': times.shown(answer.start), 'end': times.shown(answer.end),
        'counted_to': times.shown(answer.counted_to), 'step': answer.step_seconds,
        'pools': [{'pool': pool, 'steps': steps} for pool, steps in pools.items()]}}


def pool_steps_table(answer):
    """Return (header, rows) of a ``utilisation.UtilisationAnswer``: a row per pool and step."""
    classes = sorted({name for step in answer.steps for name in step.units})
    units = [(name, figure) for name in classes for figure in utilisation.UNIT_FIGURES]
    header = ['pool', 'start', 'end', *utilisation.FIGURES,
              *(f'{name}_{figure}' for name, figure in units)]
    rows = []
    for step in answer.steps:
        shown = _step(step, answer)
        cells = [shown[figure] for figure in utilisation.FIGURES] + [
            shown['units'].get(name, {}).get(figure) for name, figure in units]
        rows.append([step.pool, shown['start'], shown['end'],
                     *('' if cell is None else cell for cell in cells)])
    return header, rows


def _keys(group):
    shown = {_FIELDS[word]: value for word, value in group.keys.items() if word in _FIELDS}
    properties = {word.removeprefix(usage_groups.PROPERTY): value
                  for word, value in group.keys.items() if word not in _FIELDS}
    return {**shown, 'properties': properties} if properties else shown


def _figures(group):
    figures = {figure: {'resource_hours': _hours(group.seconds[figure]),
                        'unit_hours': {name: _hours(counts[figure])
                                       for name, counts in group.units.items() if counts[figure]}}
               for figure in usage_figures.FIGURES}
    figures['refused']['by_reason'] = {
        reason: _hours(seconds) for reason, seconds in group.reasons.items()}
    return figures


def _step(step, answer):
    """Return a step with the mean of each figure; the mean of occupied is over the past part."""
    last = min(step.start + answer.step_seconds, usage_figures.second(answer.end))
    length = last - step.start
    past = max(0, min(last, usage_figures.second(answer.counted_to)) - step.start)

    def means(counts):
        return {figure: _mean(count, past if figure == utilisation.OCCUPIED else length)
                for figure, count in counts.items()}
    return {'start': times.shown(usage_figures.moment(step.start)),
            'end': times.shown(usage_figures.moment(last)), **means(step.seconds),
            'units': {name: means(counts) for name, counts in step.units.items()}}


def _mean(seconds, length):
    return round(seconds / length, 6) if length else None


def _hours(seconds):
    return round(seconds / usage_figures.HOUR_SECONDS, 6)
