# SPDX-License-Identifier: Apache-2.0
"""A price book and leases that are billed by it."""
import datetime
import decimal

from climate.domain import prices
from climate.manager.billing import biller
from support import builders

NOON = builders.NOON
GPU = {'rate': '3.20', 'properties': {'gpu': 'a100'}}
BOOK = {
    'currency': 'EUR', 'lease_fee': '2.00',
    'rates': [{'rate': '0.10'}, {'rate': '0.50', 'resource_type': 'physical:host'}],
    'short_notice': {'hours': '24', 'percent': '20'},
    'early_end': {'credit_percent': '80'},
}


def day(month, number, hour=0):
    return datetime.datetime(2030, month, number, hour, tzinfo=datetime.UTC)


def book(manager, **changes):
    """The StoredBook of a price book that is valid from now on."""
    return manager.client.create_price_book(builders.an_admin(), None, {**BOOK, **changes})


def known(manager, *names):
    """Make properties known in the pool of hosts; no host has them afterwards."""
    host = manager.client.list_resources(builders.an_admin(), 'host')[-1]
    for text in ('x', None):
        manager.client.update_resource(builders.an_admin(), 'host', host.id,
                                       dict.fromkeys(names, text))


def bill(manager):
    """Return the number of lines that a pass writes now."""
    return biller.Biller(manager.core).bill(manager.clock())


def lines(manager, **query):
    return manager.client.list_statement_lines(builders.an_admin(), prices.StatementQuery(**query))


def shown(found):
    """Return the visible fields of lines, without ids."""
    return [(each.month, each.for_month, each.line.kind, each.line.hours, each.line.amount)
            for each in found]


def total(found):
    return sum(decimal.Decimal(each.line.amount) for each in found)
