# SPDX-License-Identifier: Apache-2.0
"""The path /v1/statements, from REST 1.1 on: what leases cost, by project and month."""
import datetime
import re

import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import price_view
from climate.api import queries
from climate.api import usage_view
from climate.api.controllers import base
from climate.domain import ledger
from climate.domain import prices
from climate.policies import statements as rules

#: The parameters of the query of both routes.
FILTERS = ('month', 'project_id', 'all_projects', 'lease_id', 'format', 'limit', 'marker')
_MONTH = re.compile('(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])')
# Without a month, the list has the statements of so many days.
_SHOWN = datetime.timedelta(days=365)
_LONGEST = 255


class StatementsController(base.Controller):
    """Lists statements; the lines of one month are below its name."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, project_id = self._asked(req, FILTERS)
        as_csv = usage_view.wants_csv(req)
        limit, marker = base.page(req, self._parts.conf.api.max_limit, _after_statement)
        month = _month(req.GET['month']) if 'month' in req.GET else None
        found = self._parts.manager.list_statements(caller, prices.StatementQuery(
            project_id, month, _lease(req), None if month else ledger.month_of(
                self._parts.clock() - _SHOWN), limit + 1, marker))
        shown = [price_view.statement(each) for each in found[:limit]]
        if as_csv:
            return usage_view.as_csv(*price_view.table(price_view.STATEMENT_FIELDS, shown))
        answer = {'statements': shown}
        if len(found) > limit:
            last = found[limit - 1]
            answer['statements_links'] = base.next_link(req, f'{last.month}/{last.project_id}')
        return answer

    @pecan.expose('json')
    def get_one(self, req, resp, month):
        caller, project_id = self._asked(req, FILTERS[1:])
        as_csv = usage_view.wants_csv(req)
        limit, marker = base.page(req, self._parts.conf.api.max_limit, _after_line)
        query = prices.StatementQuery(
            project_id, _month(month), _lease(req), None, limit + 1,
            None if marker is None else (month, *marker))
        found = self._parts.manager.list_statement_lines(caller, query)
        if not found and marker is None:
            raise errors.StatementNotFound(
                project_id=project_id if project_id is not None else 'of any name', month=month)
        shown = [price_view.line(each) for each in found[:limit]]
        if as_csv:
            return usage_view.as_csv(*price_view.table(price_view.LINE_FIELDS, shown))
        answer = {'lines': shown}
        if len(found) > limit:
            last = found[limit - 1]
            answer['lines_links'] = base.next_link(req, f'{last.lease_id}/{last.number}')
        return answer

    def _asked(self, req, known):
        """Return (caller, the id of the project that is asked for, or None for all).

        :raises Forbidden: the caller may see its own project only.
        """
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET)
        base.refuse_lenient(req, 'Statements are served')
        queries.refuse_unknown(req, known)
        everything = body.flag(req, 'all_projects')
        project_id = base.queried_project(req) if 'project_id' in req.GET else None
        if everything or project_id not in (None, caller.project_id):
            self._parts.policy.authorize(caller, rules.GET_ALL_PROJECTS)
        return caller, project_id if everything or project_id else caller.project_id


def _month(text):
    """Return a month in the form "2030-05".

    :raises BadField: the text has another form.
    """
    if not _MONTH.fullmatch(text):
        raise errors.BadField(field='month', reason=(
            f'"{text[:40]}" is no month: write a year and a month, such as "2030-05".'))
    return text


def _lease(req):
    found = req.GET.get('lease_id')
    if found is not None and not 0 < len(found) <= 36:
        raise errors.BadField(field='lease_id', reason='it is not the id of a lease.')
    return found


def _after_statement(text):
    month, _, project_id = text.partition('/')
    if not _MONTH.fullmatch(month) or not 0 < len(project_id) <= _LONGEST:
        raise errors.BadField(field='marker', reason='take it from the link to the next page.')
    return month, project_id, 0


def _after_line(text):
    lease_id, _, number = text.partition('/')
    count = base.row_number(number)
    if not 0 < len(lease_id) <= 36 or count is None or count > 10 ** 9:
        raise errors.BadField(field='marker', reason='take it from the link to the next page.')
    return lease_id, count
