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


class OfferedReservations(columns.Lines):
    """The reservations of an offer: the type and the request."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        fields = [f'{name}={value}' for name, value in element.items()
                  if name != 'resource_type' and value not in (None, '', [], {})]
        return ' '.join([element['resource_type'], *fields])


class ListOffers(base.Lister):
    """List the offers that are held for the project."""

    parameters = (base.LONG,)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        offers = self.client.offers.list()
        names: tuple[str, ...] = _NARROW if self.is_narrow(parsed_args) else _NAMES
        # Without a price book no offer has a price.
        if names == _NARROW and any('price' in offer for offer in offers):
            names = (*_NARROW, 'price')
        return names, [tuple(_cell(name, offer.get(name)) for name in names) for offer in offers]


class ShowOffer(base.ShowOne):
    """Show an offer that is held for the project."""

    parameters = (('offer', {'metavar': 'OFFER', 'help': _HELP}),)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        offer = self.client.offers.get(
            self.client.offers.full_id(parsed_args.offer))
        names = columns.in_order(offer, _NAMES)
        return names, [columns.PriceLines(offer[name]) if name == 'price'
                       else _cell(name, offer[name]) for name in names]


class DeleteOffers(base.Silent):
    """Release offers: other leases can get their resources."""

    example = 'offer delete 0a9c6a53-4d35-4a17-8b3e-90c1cf0f1c58'

    parameters = (('offers', {'metavar': 'OFFER', 'nargs': '+', 'help': f'{_HELP} Repeatable.'}),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        offers = self.client.offers
        self.for_each(parsed_args.offers, 'offer',
                      lambda text: offers.delete(offers.full_id(text)))


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name in _TIMES:
        return columns.Time(value)
    if name == 'price':
        return columns.PriceColumn(value)
    return OfferedReservations(value) if name == 'reservations' else value
