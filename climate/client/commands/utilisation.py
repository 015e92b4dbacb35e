# SPDX-License-Identifier: Apache-2.0
"""The command that reports utilisation."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import charts
from climate.client.commands import columns
from climate.client.commands import usage

_FIGURES = ('capacity', 'allocated', 'occupied', 'out_of_order', 'asleep')


class ReportUtilisation(base.Lister):
    """Report how full pools were and will be; by default for administrators."""

    example = 'utilisation --pool host --last 7d --end +7d'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--pool', metavar='POOL', help='Only this pool. Default: all pools.')
        usage.add_span(parser, 'Default: now.', 'Default: 7 days after the start.')
        parser.add_argument('--step', metavar='SPAN', type=arguments.span, help=(
            f'The length of a step, in full hours: {times.SPAN_HELP}. Default: it depends on the '
            'span.'))
        parser.add_argument('--steps', action='store_true', help=(
            'List each step, instead of a line for each pool.'))
        usage.add_forms(parser, 'a line for each figure over time')
        return parser

    def carry_out(self, parsed_args: argparse.Namespace) -> int:
        """Print the report, as CSV with --csv."""
        if parsed_args.plot:
            # Before the client logs in.
            charts.check(parsed_args.plot)
        if not parsed_args.csv:
            return super().carry_out(parsed_args)
        self.app.stdout.write(self.client.utilisation.csv(**_query(parsed_args)))
        return 0

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        report = self.client.utilisation.report(**_query(parsed_args))
        if parsed_args.plot:
            charts.plot_pools(parsed_args.plot, report['pools'])
        if parsed_args.steps:
            return ('pool', 'start', 'end', *_FIGURES), [
                (pool['pool'], columns.Time(step['start']), columns.Time(step['end']),
                 *(step[figure] for figure in _FIGURES))
                for pool in report['pools'] for step in pool['steps']]
        # Pools without resources in all that time are left out.
        return ('pool', 'capacity', 'allocated', 'peak', 'allocated_over_time', 'occupied',
                'out_of_order', 'asleep'), [
            _line(pool) for pool in report['pools']
            if any(step['capacity'] or step['allocated'] for step in pool['steps'])]


def _line(pool: Mapping[str, typing.Any]) -> tuple[typing.Any, ...]:
    """Return the means of a pool, its peak, and the sparkline of its allocated resources."""
    values = {figure: [step[figure] for step in pool['steps']] for figure in _FIGURES}
    means = {figure: _mean(numbers) for figure, numbers in values.items()}
    peak = max(values['allocated'], default=0)
    return (pool['pool'], means['capacity'], means['allocated'], round(peak, 2),
            charts.Sparkline(values['allocated'], max(values['capacity'], default=0)),
            means['occupied'], means['out_of_order'], means['asleep'])


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 2) if known else None


def _query(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
    return {**usage.span(parsed_args), 'step': parsed_args.step, 'pool': parsed_args.pool}
