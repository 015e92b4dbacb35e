# SPDX-License-Identifier: Apache-2.0
"""The base class of the controllers of price books and limit books, and schemas that both have."""
import pecan

from climate.api import body
from climate.api import operations
from climate.api import queries
from climate.api import times
from climate.api.controllers import base
from climate.domain import peak_hours

#: The last part of the path of the version that is valid now.
VALID = 'valid'
_LONGEST = 9

TEXT = {'type': 'string', 'minLength': 1, 'maxLength': 255}
TIME_ZONE = {**TEXT, 'format': 'time zone'}
VALID_FROM = {'type': 'string', 'maxLength': 80, 'format': 'moment',
              'description': 'Default: now. It must not be in the past.'}
DESCRIPTION = {'type': 'string', 'maxLength': 255}
_TIME = {'type': 'string', 'maxLength': 5, 'format': 'time of day',
         'description': '"08:00"; the end of a day is "24:00".'}
#: The fields of a window of the week.
WINDOW = {
    'days': {'type': 'array', 'minItems': 1, 'maxItems': 7, 'uniqueItems': True,
             'items': {'enum': list(peak_hours.DAYS)}},
    'from': _TIME, 'to': _TIME}


def closed(required, **properties):
    """Return the schema of an object with these fields only."""
    return {'type': 'object', 'required': required, 'properties': properties,
            'additionalProperties': False}


def paths(path, book, schema):
    """Return the operations of a path such as "/price-books".

    :param book: the book in words, such as "the price book".
    """
    return {
        path: {
            'get': operations.operation(f'List the versions of {book}'),
            'post': operations.operation(f'Add a version of {book}', schema, 201)},
        f'{path}/{{id}}': {
            'parameters': [operations.in_path(pattern=f'^([0-9]{{1,9}}|{VALID})$')],
            'get': operations.operation(f'Show a version of {book}, or the valid one')},
    }


def shown(book):
    """Render a version."""
    return {'version': book.version, **book.document,
            'valid_from': times.shown(book.valid_from),
            'valid_until': times.shown(book.valid_until),
            'created_at': times.shown(book.created_at), 'created_by': book.created_by}


class BookVersionsController(base.Controller):
    """Adds, lists and shows versions. A version is never changed.

    :cvar noun: the noun of the RPC methods and responses, such as "price_book".
    :cvar schema: the schema of the body that adds a version.
    :cvar rules: the policy rules, as (list and show, show the valid one, add).
    :cvar not_found: the error that no version has a number.
    """

    noun = ''
    schema: dict = {}
    rules: tuple[str, str, str] = ('', '', '')
    not_found: type

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, self.rules[0])
        queries.refuse_unknown(req, ())
        return {f'{self.noun}s': [shown(book) for book in self._call('list', 's')(caller)]}

    @pecan.expose('json')
    def get_one(self, req, resp, version):
        caller = self._authorized(req, self.rules[1 if version == VALID else 0])
        queries.refuse_unknown(req, ())
        number = queries.row_number(version[:_LONGEST + 1])
        if version != VALID and (number is None or len(version) > _LONGEST):
            raise self.not_found(version=version[:80])
        return {self.noun: shown(self._call('get')(caller, number))}

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._authorized(req, self.rules[2])
        document = body.read(req, (self.schema, self.schema), self._parts.conf.api.max_body_bytes)
        valid_from = None
        if 'valid_from' in document:
            now = self._parts.clock()
            moment = times.asked('valid_from', document.pop('valid_from'), now)
            valid_from = None if moment == now else moment
        book = self._call('create')(caller, valid_from, document)
        base.created(req, resp, f'{self.noun.replace("_", "-")}s/{book.version}')
        return {self.noun: shown(book)}

    def _call(self, verb, plural=''):
        return getattr(self._parts.manager, f'{verb}_{self.noun}{plural}')
