# SPDX-License-Identifier: Apache-2.0
"""Errors of limit books."""
from climate.errors import base


class LimitBookNotFound(base.NotFound):
    code = 'limit_book_not_found'
    template = 'Limit book {version} was not found: "limit-book list" has the versions.'


class NoLimitBook(base.NotFound):
    code = 'no_limit_book'
    template = ('No limit book is valid now, so it limits no lease. An administrator adds one: '
                '"limit-book create FILE".')


class LimitBookOverlaps(base.Conflict):
    code = 'limit_book_overlaps'
    template = ('Version {version} of the limit book is also valid from {valid_from}, and a '
                'version is never changed: choose another moment for the new version.')
