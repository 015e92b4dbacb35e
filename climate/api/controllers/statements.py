# SPDX-License-Identifier: Apache-2.0
"""The path /v1/statements, from REST 1.1 on: the cost of leases, by project and month."""
import datetime
import re

import pecan

from climate import errors
from climate.api import operations
from climate.api import price_view
from climate.api import queries
from climate.api import usage_request
from climate.api import usage_view
from climate.api.controllers import base
from climate.domain import ledger
from climate.domain import prices
from climate.policies import statements as rules

#: The parameters of the query of both routes.
FILTERS = ('month', 'project_id', 'all_projects', 'lease_id', 'format', 'limit', 'marker')
_MONTH = re.compile('(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])')
# If the query names no month, the list begins with the month this long ago.
_SHOWN = datetime.timedelta(days=365)
_LONGEST = 255

_IN_PATH = '^[2-9][0-9]{3}-(0[1-9]|1[0-2])$'
_PARAMETERS = [
    *operations.paging(), operations.query('project_id', minLength=1, maxLength=255),
    operations.flag('all_projects'), operations.query('lease_id', minLength=1, maxLength=36),
    operations.query('format', enum=list(usage_request.FORMATS))]
PATHS = {
    '/statements': {'get': operations.operation(
        'List statements by month and project',
        query=[operations.query('month', pattern=_IN_PATH), *_PARAMETERS])},
    '/statements/{id}': {
        'parameters': [operations.in_path(pattern=_IN_PATH)],
        'get': operations.operation('Show the lines of the statements of a month',
                                    query=_PARAMETERS)},
}


class StatementsController(base.Controller):
    """Lists statements, and shows the lines of the statements of a month."""

    since_1_1 = 'Statements are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, project_id = self._read(req, FILTERS)
        as_csv = usage_view.wants_csv(req)

        def fetch(marker, limit):
            month = _month(req.GET['month']) if 'month' in req.GET else None
            return self._parts.manager.list_statements(caller, prices.StatementQuery(
                project_id, month, _lease(req), None if month else ledger.month_of(
                    self._parts.clock() - _SHOWN), limit, marker))

        answer = self._page(
            req, 'statements', fetch, lambda items: list(map(price_view.statement, items)),
            _after_statement, lambda last: f'{last.month}/{last.project_id}')
        return _as_csv(price_view.STATEMENT_FIELDS, answer['statements']) if as_csv else answer

    @pecan.expose('json')
    def get_one(self, req, resp, month):
        caller, project_id = self._read(req, FILTERS[1:])
        as_csv = usage_view.wants_csv(req)

        def fetch(marker, limit):
            lines = self._parts.manager.list_statement_lines(caller, prices.StatementQuery(
                project_id, _month(month), _lease(req), None, limit,
                None if marker is None else (month, *marker)))
            if not lines and marker is None:
                raise errors.StatementNotFound(
                    project_id=project_id if project_id is not None else 'of any name',
                    month=month)
            return lines

        answer = self._page(req, 'lines', fetch, lambda items: list(map(price_view.line, items)),
                            _after_line, lambda last: f'{last.lease_id}/{last.number}')
        return _as_csv(price_view.LINE_FIELDS, answer['lines']) if as_csv else answer

    def _read(self, req, known):
        """Check a query; return (caller, the id of its project, or None for all projects).

        :raises Forbidden: the caller may not see other projects.
        """
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, known)
        return caller, self._project(req, caller, rules.GET_ALL_PROJECTS)


def _as_csv(fields, items):
    return usage_view.as_csv(*price_view.table(fields, items))


def _month(text):
    """Return a month in the form "2030-05".

    :raises BadField: the text has another form.
    """
    if not _MONTH.fullmatch(text):
        raise errors.BadField(field='month', reason=(
            f'"{text[:40]}" is not a month: write a year and a month, such as "2030-05".'))
    return text


def _lease(req):
    lease_id = req.GET.get('lease_id')
    if lease_id is not None and not 0 < len(lease_id) <= 36:
        raise errors.BadField(field='lease_id', reason='it is not the id of a lease.')
    return lease_id


def _after_statement(text):
    month, _, project_id = text.partition('/')
    if not _MONTH.fullmatch(month) or not 0 < len(project_id) <= _LONGEST:
        raise errors.BadField(field='marker', reason='take it from the link to the next page.')
    return month, project_id, 0


def _after_line(text):
    lease_id, _, number = text.partition('/')
    count = queries.row_number(number)
    if not 0 < len(lease_id) <= 36 or count is None or count > 10 ** 9:
        raise errors.BadField(field='marker', reason='take it from the link to the next page.')
    return lease_id, count
