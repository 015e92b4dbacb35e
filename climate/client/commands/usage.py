# SPDX-License-Identifier: Apache-2.0
"""The command that reports usage."""
import argparse
from collections.abc import Iterable
from collections.abc import Mapping
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import charts

_FIELDS = {'project': 'project_id', 'user': 'user_id', 'type': 'resource_type', 'pool': 'pool',
           'day': 'day'}
_PROPERTY = 'property:'
_Group = dict[str, typing.Any]


class ReportUsage(base.Lister):
    """Report usage in resource-hours: allocated, occupied, idle and refused."""

    example = 'usage --by project --by day --last 7d --all-projects'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--by', metavar='WORD', action='append', help=(
            'Group by project, user, type, pool, day or property:NAME. Repeatable. Default: pool.'))
        add_span(parser, 'Default: 30 days before the end.', 'Default: the end of this day.')
        parser.add_argument('--project', metavar='ID', help=(
            'The usage of another project; by default for administrators.'))
        parser.add_argument('--all-projects', action='store_true', help=(
            'The usage of all projects; by default for administrators.'))
        parser.add_argument('--sparkline', action='store_true', help=(
            'Show the allocated hours of each group from day to day.'))
        parser.add_argument('--long', action='store_true', help=(
            'Show the hours of each class of units, too.'))
        add_forms(parser, 'a bar for each group and figure')
        return parser

    def carry_out(self, parsed_args: argparse.Namespace) -> int:
        """Print the report, as CSV with --csv."""
        if parsed_args.plot:
            # Before the client logs in.
            charts.check(parsed_args.plot)
        if not parsed_args.csv:
            return super().carry_out(parsed_args)
        self.app.stdout.write(self.client.usage.csv(**_query(parsed_args)))
        return 0

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        query = _query(parsed_args)
        by = query['group_by']
        report = self.client.usage.report(**query)
        self._total = report['total']
        groups = report['groups']
        if parsed_args.plot:
            charts.plot_groups(parsed_args.plot, [(_name(group, by), group) for group in groups])
        names = [*(_FIELDS.get(word, word) for word in by), *charts.FIGURES]
        cells = [[*_keys(group, by), *(group[figure]['resource_hours']
                                       for figure in charts.FIGURES)] for group in groups]
        if parsed_args.sparkline and 'day' not in by:
            names.append('allocated_by_day')
            lines = self._by_day(query)
            cells = [[*row, lines.get(tuple(row[:len(by)]), '')] for row in cells]
        if parsed_args.long:
            names += [f'{figure}_units' for figure in charts.FIGURES]
            cells = [[*row, *(_units(group[figure]['unit_hours'])
                              for figure in charts.FIGURES)]
                     for row, group in zip(cells, groups, strict=True)]
        return tuple(names), [tuple(row) for row in cells]

    def summary(self, parsed_args: argparse.Namespace) -> list[str]:
        words = ', '.join(f'{figure} {self._total[figure]["resource_hours"]:g}'
                          for figure in charts.FIGURES)
        reasons = ', '.join(f'{reason} {hours:g}' for reason, hours in self._total[
            'refused']['by_reason'].items())
        return [f'Total resource-hours: {words}{f" ({reasons})" if reasons else ""}.']

    def _by_day(self, query: Mapping[str, typing.Any]) -> dict[
            tuple[typing.Any, ...], charts.Sparkline]:
        """Return {keys of a group: the sparkline of its allocated hours by day}."""
        by = query['group_by']
        report = self.client.usage.report(**{**query, 'group_by': [*by, 'day']})
        now = times.utcnow()
        first = times.moment(report['start'], now).date()
        count = (times.moment(report['end'], now).date() - first).days
        values: dict[tuple[typing.Any, ...], list[float | None]] = {}
        for group in report['groups']:
            line = values.setdefault(tuple(_keys(group, by)), [0.0] * count)
            place = (times.moment(group['day'], now).date() - first).days
            line[place] = group['allocated']['resource_hours']
        return {keys: charts.Sparkline(line) for keys, line in values.items()}


def add_span(parser: argparse.ArgumentParser, start: str, end: str) -> None:
    """Add the arguments of a span of time; the texts describe the defaults."""
    first = parser.add_mutually_exclusive_group()
    first.add_argument('--start', metavar='TIME', type=arguments.moment_of_report,
                       help=f'The start: {times.MOMENT_HELP}. {start}')
    first.add_argument('--last', metavar='SPAN', type=arguments.span,
                       help=f'Start this long ago: {times.SPAN_HELP}.')
    parser.add_argument('--end', metavar='TIME', type=arguments.moment_of_report,
                        help=f'The end. {end}')


def add_forms(parser: argparse.ArgumentParser, picture: str) -> None:
    """Add the arguments of other forms of a report."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument('--csv', action='store_true', help='Print the CSV of the service.')
    forms.add_argument('--plot', metavar='FILE', help=(
        f'Also draw {picture} into this .svg, .png or .pdf file; needs matplotlib.'))


def span(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
    """Return the start and the end that the arguments of `add_span` name."""
    start = parsed_args.start
    if parsed_args.last is not None:
        try:
            start = times.iso(times.utcnow() - times.span(parsed_args.last))
        except OverflowError:
            raise errors.BadValue('--last: that is longer ago than any date.') from None
    return {'start': start, 'end': parsed_args.end}


def _query(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
    return {**span(parsed_args), 'group_by': parsed_args.by or ['pool'],
            'project_id': parsed_args.project, 'all_projects': parsed_args.all_projects}


def _keys(group: _Group, by: Iterable[str]) -> list[str | None]:
    return [group['properties'][word.removeprefix(_PROPERTY)] if word.startswith(_PROPERTY)
            else group[_FIELDS.get(word, word)] for word in by]


def _name(group: _Group, by: Iterable[str]) -> str:
    return ' '.join(str(key) for key in _keys(group, by))


def _units(hours: Mapping[str, float]) -> str:
    return '\n'.join(f'{name} {count:g}' for name, count in hours.items())
