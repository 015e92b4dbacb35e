# SPDX-License-Identifier: Apache-2.0
"""The command that reports resources that sleep, and the energy that this saves."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import usage


class ReportEnergy(base.Lister):
    """Report the sleeping hosts and the energy saved; by default for administrators."""

    example = 'energy --last 7d'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--pool', metavar='POOL', help='Only this pool. Default: all pools.')
        usage.add_span(parser, 'Default: 30 days before the end.', 'Default: now.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        report = self.client.energy.report(**usage.span(parsed_args), pool=parsed_args.pool)
        self._total = report['total']
        return ('pool', 'name', 'power_state', 'power_since', 'hours_asleep', 'kwh_saved'), [
            (line['pool'], line['name'], line['power_state'], columns.Time(line['power_since']),
             line['hours_asleep'], line['kwh_saved']) for line in report['resources']]

    def summary(self, parsed_args: argparse.Namespace) -> list[str]:
        saved = self._total['kwh_saved']
        return [f'Total: {self._total["hours_asleep"]:g} hours asleep, '
                f'{"unknown" if saved is None else format(saved, "g")} kWh saved.']
