# SPDX-License-Identifier: Apache-2.0
"""The path /v1/limit-books, from REST 1.1 on: the versions of the limit book."""
from climate import errors
from climate.api.controllers import book_versions
from climate.domain.limits import rules as limits
from climate.policies import limit_books as rules

_MOST_RULES = 500
# Numbers and durations may be text. The reader of the limit book checks the text.
_BOUND = {'type': ['string', 'number'], 'maxLength': 80, 'format': 'bound',
          'description': 'A number that is not negative, or a duration such as "7d" for measures '
                         'of durations.'}
_DURATION = {'type': ['string', 'integer'], 'maxLength': 80, 'format': 'duration',
             'description': 'A duration such as "7d", or a number of seconds.'}
_NAME = {'type': 'string', 'minLength': 1, 'maxLength': 64}
_IDS = {'type': 'array', 'minItems': 1, 'maxItems': 1000, 'uniqueItems': True,
        'items': book_versions.TEXT}
_SCOPE = {
    'name': {**_NAME, 'description': 'The name in refusals; unique in the book.'},
    'projects': {**_IDS, 'description': 'The ids of the projects to which the rule applies.'},
    'users': {**_IDS, 'description': 'The ids of the users to which the rule applies.'},
    'resource_type': book_versions.TEXT, 'pool': book_versions.TEXT}


def _choice(kinds):
    return {'type': 'string', 'enum': [str(kind) for kind in kinds]}


_LIMIT = book_versions.closed(
    ['name', 'measure'], **_SCOPE, measure=_choice(limits.Measure), most=_BOUND,
    least={**_DURATION, 'description': 'The minimum of "notice" and "pause".'},
    roles={**_IDS, 'description': 'The caller must have one of these roles.'},
    unit={**_NAME, 'description': 'A capacity, such as "vcpus". Default: "resources".'},
    window={**_DURATION, 'description': 'The length of the rolling window.'},
    period=_choice(limits.Period), timezone=book_versions.TIME_ZONE, per=_choice(limits.Per),
    criteria={'type': ['string', 'array'], 'maxLength': 10_000, 'format': 'criteria',
              'description': 'Only resources that meet these criteria count, such as '
                             '["==", "$gpu", "A100"].'},
    hours=book_versions.closed(['days', 'from', 'to'], timezone=book_versions.TIME_ZONE,
                               **book_versions.WINDOW))
_EXTENSION = book_versions.closed(
    ['name'], **_SCOPE,
    within={**_DURATION, 'description': 'Extensions are allowed in this last part of a lease, '
                                        'such as "2d" or "25%".'},
    most=_DURATION, total=_DURATION, total_from=_choice(limits.TotalFrom),
    times={'type': ['string', 'integer'], 'maxLength': 32, 'format': 'count'})
_BOOK = book_versions.closed(
    ['limits'],
    valid_from=book_versions.VALID_FROM, description=book_versions.DESCRIPTION,
    limits={'type': 'array', 'maxItems': _MOST_RULES, 'items': _LIMIT},
    extensions={'type': 'array', 'maxItems': _MOST_RULES, 'items': _EXTENSION})

PATHS = book_versions.paths('/limit-books', 'the limit book', _BOOK)


class LimitBooksController(book_versions.BookVersionsController):
    """Adds, lists and shows versions of the limit book."""

    since_1_1 = 'Limit books are served'
    noun = 'limit_book'
    schema = _BOOK
    rules = rules.GET, rules.GET, rules.POST
    not_found = errors.LimitBookNotFound
