# SPDX-License-Identifier: Apache-2.0
"""Rendering of prices and statements, from REST 1.1 on."""
from climate.api import times

#: The fields of a line in CSV.
LINE_FIELDS = ('project_id', 'month', 'lease_id', 'number', 'for_month', 'correction', 'kind',
               'price_book', 'reservation_id', 'resource_type', 'pool', 'hours', 'rate', 'percent',
               'amount', 'currency', 'created_at')
STATEMENT_FIELDS = ('project_id', 'month', 'amount', 'currency', 'leases', 'lines', 'closed')


def price(price_record, name='price'):
    """Render a LeasePrice as {name: …}; {} if there is none."""
    if price_record is None:
        return {}
    return {name: {'amount': price_record.amount, 'currency': price_record.currency,
                   'lines': [_charge(charge) for charge in price_record.lines]}}


def late_cancel(price_record):
    """Render the price of a late cancellation as {"late_cancel": …}; {} if it costs nothing."""
    return price(price_record, 'late_cancel')


def statement(record):
    """Render a Statement."""
    return {name: getattr(record, name) for name in STATEMENT_FIELDS}


def line(record):
    """Render a StatementLine."""
    return {'project_id': record.project_id, 'month': record.month, 'lease_id': record.lease_id,
            'number': record.number, 'for_month': record.for_month, 'correction': record.correction,
            **_charge(record.line), 'currency': record.currency,
            'created_at': times.shown(record.created_at)}


def table(fields, items):
    """Return (header, rows) of a CSV table of rendered items."""
    return fields, [['' if item.get(name) is None else item[name] for name in fields]
                    for item in items]


def _charge(charge):
    return {name: value for name, value in vars(charge).items() if value is not None}
