# SPDX-License-Identifier: Apache-2.0
"""Rendering of prices, price books and statements, from REST 1.1 on."""
from climate.api import times

#: The fields of a line in CSV.
LINE_FIELDS = ('project_id', 'month', 'lease_id', 'number', 'for_month', 'correction', 'kind',
               'price_book', 'reservation_id', 'resource_type', 'pool', 'hours', 'rate', 'percent',
               'amount', 'currency', 'created_at')
STATEMENT_FIELDS = ('project_id', 'month', 'amount', 'currency', 'leases', 'lines', 'closed')


def book(found):
    """Render a StoredBook."""
    return {'version': found.version, **found.document,
            'valid_from': times.shown(found.valid_from),
            'valid_until': times.shown(found.valid_until),
            'created_at': times.shown(found.created_at), 'created_by': found.created_by}


def price(found):
    """Render a Price as {"price": …}; {} if there is none."""
    if found is None:
        return {}
    return {'price': {'amount': found.amount, 'currency': found.currency,
                      'lines': [_charge(each) for each in found.lines]}}


def statement(found):
    """Render a Statement."""
    return {name: getattr(found, name) for name in STATEMENT_FIELDS}


def line(found):
    """Render a StatementLine."""
    return {'project_id': found.project_id, 'month': found.month, 'lease_id': found.lease_id,
            'number': found.number, 'for_month': found.for_month, 'correction': found.correction,
            **_charge(found.line), 'currency': found.currency,
            'created_at': times.shown(found.created_at)}


def table(fields, items):
    """Return (header, rows) of a CSV table of rendered items."""
    return fields, [['' if each.get(name) is None else each[name] for name in fields]
                    for each in items]


def _charge(found):
    return {name: value for name, value in vars(found).items() if value is not None}
