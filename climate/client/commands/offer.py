# SPDX-License-Identifier: Apache-2.0
"""Commands about offers that are held for the project."""
import argparse
from collections.abc import Mapping
import typing

from climate.client.commands import base
from climate.client.commands import columns

_NAMES = ('id', 'held_until', 'start', 'end', 'price', 'reservations')
# In a table for people, "offer show" and --long have the reservations.
_NARROW = ('id', 'held_until', 'start', 'end')
_TIMES = ('held_until', 'start', 'end', 'created_at')
_HELP = 'Id of the offer; "offer list" has the ids.'


class Asked(columns.Lines):
    """The reservations of an offer: the type and the request."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        asked = [f'{name}={value}' for name, value in element.items()
                 if name != 'resource_type' and value not in (None, '', [], {})]
        return ' '.join([element['resource_type'], *asked])


class ListOffers(base.Lister):
    """List the offers that are held for the project."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--long', action='store_true', help='Show more columns.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        found = self.client.offers.list()
        names: tuple[str, ...] = _NARROW if self.is_narrow(parsed_args) else _NAMES
        # Without a price book no offer has a price.
        if names == _NARROW and any('price' in each for each in found):
            names = (*_NARROW, 'price')
        return names, [tuple(_cell(name, each.get(name)) for name in names) for each in found]


class ShowOffer(base.ShowOne):
    """Show an offer that is held for the project."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('offer', metavar='OFFER', help=_HELP)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        found = self.client.offers.get(parsed_args.offer)
        names = [*(name for name in _NAMES if name in found),
                 *sorted(name for name in found if name not in _NAMES)]
        return names, [columns.PriceLines(found[name]) if name == 'price'
                       else _cell(name, found[name]) for name in names]


class DeleteOffers(base.Silent):
    """Release offers: others can get their resources again."""

    example = 'offer delete 0a9c6a53-4d35-4a17-8b3e-90c1cf0f1c58'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('offers', metavar='OFFER', nargs='+', help=f'{_HELP} Repeatable.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.for_each(parsed_args.offers, 'offer', self.client.offers.delete)


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name in _TIMES:
        return columns.Time(value)
    if name == 'price':
        return columns.Price(value)
    return Asked(value) if name == 'reservations' else value
