# SPDX-License-Identifier: Apache-2.0
"""Commands that plan capacity: what-if, and the forecast of the demand."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from cliff import columns as formattable

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import charts
from climate.client.commands import columns

# The most blocks of a sparkline.
_WIDTH = 60
_OF_CHANGE = ('lease_id', 'kind', 'outcome', 'start', 'new_start')
_LONG_CHANGE = (*_OF_CHANGE, 'end', 'resources', 'new_resources')
_OF_HOUR = ('start', 'expected', 'low80', 'high80', 'low95', 'high95', 'allocated', 'missing')
_OF_DAY = ('day', 'now', 'then')
_MOST_FACTOR = 10


class NamesInLine(formattable.FormattableColumn[Sequence[str]]):
    """Names of resources; for people in one line."""

    def human_readable(self) -> str:
        return ' '.join(self._value)


class ResourceNumber(formattable.FormattableColumn[float | None]):
    """A number of resources; for people with two digits."""

    def human_readable(self) -> str:
        return '-' if self._value is None else f'{self._value:.2f}'


class ShareInPercent(formattable.FormattableColumn[float | None]):
    """A share; for people in percent."""

    def human_readable(self) -> str:
        return _percent(self._value)


class PlanCommand(base.Lister):
    """A command that lists figures of a plan, with a summary below the table."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--pool', metavar='POOL', default='host',
                            help='The pool. Default: host.')
        parser.add_argument('--csv', action='store_true', help='Print CSV, as -f csv does.')
        return parser

    def carry_out(self, parsed_args: argparse.Namespace) -> int:
        if parsed_args.csv:
            parsed_args.formatter = 'csv'
        code: int = super().carry_out(parsed_args)
        return code


class WhatIf(PlanCommand):
    """Show what would happen to leases if hosts or the demand changed; change nothing."""

    example = 'plan what-if --remove cmp-3 --out cmp-4,cmp-5 +1d +3d --demand-factor 1.5'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--start', metavar='TIME', type=arguments.moment,
                            help=f'The start: {times.MOMENT_HELP}. Default: now.')
        parser.add_argument('--end', metavar='TIME', type=arguments.moment,
                            help='The end, at most 366 days later. Default: 30 days later.')
        parser.add_argument('--add', nargs=2, metavar=('COUNT', 'LIKE'), action='append',
                            default=[], help='Resources that are added, with the properties of '
                                             'the one with that name or id. Repeatable.')
        parser.add_argument('--remove', metavar='NAMES', action='append', default=[],
                            help='Names or ids of resources, separated by commas, that are '
                                 'removed. Repeatable.')
        parser.add_argument('--out', nargs=3, metavar=('NAMES', 'START', 'END'), action='append',
                            default=[], help='Resources, separated by commas, that cannot be used '
                                             'from START to END. Repeatable.')
        parser.add_argument('--demand-factor', metavar='FACTOR', type=_factor, default=1.0,
                            help='1.5 means 50 %% more leases; 0.1 to 10. Default: 1.')
        parser.add_argument('--days', action='store_true',
                            help='List the use of the pool by day instead of the leases.')
        parser.add_argument('--long', action='store_true', help='Show more columns.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        self._answer = self.client.plans.what_if(
            pool=parsed_args.pool, start=parsed_args.start, end=parsed_args.end,
            add=[_added(*words) for words in parsed_args.add], remove=[
                name for names in parsed_args.remove for name in _listed(names)],
            out=[_outage(*words) for words in parsed_args.out],
            demand_factor=parsed_args.demand_factor)
        if parsed_args.days:
            share = ShareInPercent if parsed_args.formatter == 'table' else _unchanged
            return _OF_DAY, [(columns.Time(day['start']), *(
                share(day[name]['utilisation']) for name in ('now', 'then')))
                for day in self._answer['utilisation']['days']]
        names = _OF_CHANGE if self.is_narrow(parsed_args) else _LONG_CHANGE
        cell = _cell_of_csv if parsed_args.formatter == 'csv' else _cell
        return names, [tuple(cell(name, change[name]) for name in names)
                       for change in self._answer['changes']]

    def summary(self, parsed_args: argparse.Namespace) -> list[str]:
        answer, counts = self._answer, self._answer['leases']
        lines = [f'{answer["resources"]["now"]} resources now, {answer["resources"]["then"]} then; '
                 f'{counts["looked_at"]} leases checked, {counts["left_out"]} left out.']
        for kind, words in (('displaced', 'Lose resources'), ('queued', 'Wait now'),
                            ('extra', 'More demand')):
            outcomes = [f'{count} {outcome}' for outcome, count in counts[kind].items() if count]
            if outcomes:
                lines.append(f'{words}: {", ".join(outcomes)}.')
        listed, total = len(answer['changes']), sum(
            count for kind in ('displaced', 'queued', 'extra') for count in counts[kind].values())
        if not total:
            lines.append('No lease would move, wait or be refused.')
        elif listed < total:
            lines.append(f'Listed are the first {listed} of {total}.')
        for word in ('now', 'then'):
            days = [day[word]['utilisation'] for day in answer['utilisation']['days']]
            lines.append(f'Use {word:>4}: {_percent(answer["utilisation"][word])} '
                         f'{charts.sparkline(days, 1, _WIDTH)}')
        return lines


class Forecast(PlanCommand):
    """Show the expected demand for a pool by hour; by default for administrators."""

    example = 'plan forecast --pool host --end +3d --require gpu=A100'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--end', metavar='TIME', type=arguments.moment,
                            help='The end, at most 28 days ahead. Default: +7d.')
        parser.add_argument('--plot', metavar='FILE', help=(
            'Also draw the forecast with its bands into this .svg, .png or .pdf file; needs '
            'matplotlib.'))
        parser.add_argument('--require', metavar='CONDITION', type=arguments.requirement,
                            action='append', default=[],
                            help='Count only resources that meet this condition, such as '
                                 '\'vcpus>=16\'. Repeatable.')
        return parser

    def carry_out(self, parsed_args: argparse.Namespace) -> int:
        """Print the forecast; with --plot check first that it can be drawn."""
        if parsed_args.plot:
            charts.check(parsed_args.plot)
        return super().carry_out(parsed_args)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        conditions = parsed_args.require
        criteria = ['and', *conditions] if len(conditions) > 1 else next(iter(conditions), None)
        self._forecast = self.client.plans.forecast(pool=parsed_args.pool, end=parsed_args.end,
                                                    criteria=criteria)
        if parsed_args.plot:
            charts.plot_forecast(parsed_args.plot, self._forecast)
        # CSV would quote the numbers of a formattable column.
        number = ResourceNumber if parsed_args.formatter == 'table' else _unchanged
        return _OF_HOUR, [
            (columns.Time(hour['start']), *(number(hour[name]) for name in _OF_HOUR[1:]))
            for hour in self._forecast['hours']]

    def summary(self, parsed_args: argparse.Namespace) -> list[str]:
        forecast = self._forecast
        expected = [hour['expected'] for hour in forecast['hours']]
        top = max([forecast['capacity'], *expected])
        error = forecast['past_error']
        line = charts.sparkline(expected, top, _WIDTH)
        lines = [f'Expected: {line} (the highest block is {top:g} resources)',
                 f'Capacity: {forecast["capacity"]}. Method: {forecast["method"]}, learned from '
                 f'{times.for_people(forecast["learned_from"])} on' + (
                     '.' if error is None else
                     f'; a day ahead it erred by {error:g} on average.')]
        if forecast['hours'][0]['low80'] is None:
            lines.append('There are no bands yet: they need 17 days of history, and one more for '
                         'each day ahead after the first.')
        for name, words in (('short_at', 'Runs short'), ('may_be_short_at', 'May run short')):
            if forecast[name] is not None:
                lines.append(f'{words} from {times.for_people(forecast[name])} on.')
        return lines


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0
    if not 0.1 <= factor <= _MOST_FACTOR:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a factor from 0.1 to {_MOST_FACTOR}, such as 1.5.')
    return factor


def _added(count: str, like: str) -> Mapping[str, typing.Any]:
    if not (count.isascii() and count.isdecimal()) or int(count) < 1:
        raise errors.BadValue(f'--add: "{count}" is not a number of at least 1; write '
                              '--add 10 cmp-3.')
    return {'count': int(count), 'like': like}


def _outage(names: str, start: str, end: str) -> Mapping[str, typing.Any]:
    try:
        first = times.understand(start, times.user_zone())
        last = times.understand(end, times.user_zone(), first.at)
    except errors.BadValue as error:
        raise errors.BadValue(f'--out: {error.message}') from error
    return {'resources': _listed(names), 'start': first.wire, 'end': last.wire}


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(',') if name.strip()]


def _cell_of_csv(name: str, value: typing.Any) -> typing.Any:
    return ' '.join(value) if name in ('resources', 'new_resources') else _cell(name, value)


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name in ('start', 'end', 'new_start'):
        return columns.Time(value) if value else ''
    return NamesInLine(value) if name in ('resources', 'new_resources') else value


def _unchanged(value: float | None) -> float | None:
    return value


def _percent(share: float | None) -> str:
    return '   -' if share is None else f'{share * 100:3.0f}%'
