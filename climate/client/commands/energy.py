# SPDX-License-Identifier: Apache-2.0
"""The command that reports what sleeps, and the energy that this saves."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns
from climate.client.commands import usage


class ReportEnergy(base.Lister):
    """Report which hosts sleep, since when, and what that saved; by default for administrators."""

    example = 'energy --last 7d'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--pool', metavar='POOL', help='Only this pool. Default: all pools.')
        usage.add_span(parser, 'Default: 30 days before the end.', 'Default: now.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        found = self.client.energy.report(**usage.span(parsed_args), pool=parsed_args.pool)
        self._total = found['total']
        return ('pool', 'name', 'power_state', 'power_since', 'hours_asleep', 'kwh_saved'), [
            (each['pool'], each['name'], each['power_state'], columns.Time(each['power_since']),
             each['hours_asleep'], each['kwh_saved']) for each in found['resources']]

    def produce_output(self, parsed_args: argparse.Namespace, column_names: typing.Any,
                       data: typing.Any) -> int:
        code: int = super().produce_output(parsed_args, column_names, data)
        # Programs, which read other formats, add up by themselves.
        if parsed_args.formatter == 'table':
            saved = self._total['kwh_saved']
            self.app.stdout.write(
                f'Total: {self._total["hours_asleep"]:g} hours asleep, '
                f'{"unknown" if saved is None else format(saved, "g")} kWh saved.\n')
        return code
