# SPDX-License-Identifier: Apache-2.0
"""Errors of price books and statements."""
from climate.errors import base


class PriceBookNotFound(base.NotFound):
    code = 'price_book_not_found'
    template = 'Price book {version} was not found: "price-book list" has the versions.'


class NoPriceBook(base.NotFound):
    code = 'no_price_book'
    template = ('No price book is valid now, so leases cost nothing. An administrator adds one: '
                '"price-book create --file FILE".')


class StatementNotFound(base.NotFound):
    code = 'statement_not_found'
    template = ('Project {project_id} has no statement of {month}: a lease is billed after its end '
                'and after the end of each month.')


class PriceBookOverlaps(base.Conflict):
    code = 'price_book_overlaps'
    template = ('Version {version} of the price book is also valid from {valid_from}, and a '
                'version is never changed: choose another moment for the new version.')
