# SPDX-License-Identifier: Apache-2.0
"""The report of limits to their owner: each limit that applies, and how much of it is used."""
from climate.domain import requirement
from climate.domain.limits import extension_words
from climate.domain.limits import limit_reports
from climate.domain.limits import limit_texts
from climate.domain.limits import rules
from climate.manager.limits import books
from climate.manager.limits import checking

_SCOPES = ('everybody', 'project', 'user')
_UNITS = {rules.Measure.OPEN_LEASES: 'leases', rules.Measure.WAITING_LEASES: 'leases',
          rules.Measure.HELD_OFFERS: 'offers'}


def report(core, context, project_id, user_id, see_private):
    """Return the LimitReport of a project, and of a user unless `user_id` is None.

    :param see_private: whether the caller may see private properties in criteria.
    """
    now, owner = core.clock(), (project_id, user_id or '')
    book = books.known(core, now)
    checks = checking.applying(core, *owner, now)
    with core.database.reader() as connection:
        private = frozenset() if see_private else checking.private_names(
            connection, checks.limits)
    is_own = (project_id, user_id) == (context.project_id, context.user_id)
    roles = frozenset(context.roles) if is_own else None
    return limit_reports.LimitReport(
        project_id, user_id, None if book is None else book.version,
        tuple(_of_limit(use, owner, roles, private, _source(use.limit, book))
              for use in checks.usage()),
        () if book is None else tuple(map(_of_extension, book.extensions_for(*owner))))


def _source(limit, book):
    """Return whether a limit is from the limit book, or from Keystone."""
    is_of_book = book is not None and any(limit is other for other in book.limits)
    return limit_reports.LIMIT_BOOK if is_of_book else limit_reports.KEYSTONE


def _of_limit(use, owner, roles, private, source):
    """Return the ReportedLimit of a LimitUse.

    :param owner: (project id, user id); the user id is '' if the report is about no user.
    :param roles: the roles of the caller; None: the report is about somebody else.
    :param private: the names of properties that the caller may not see.
    """
    limit = use.limit
    hides_criteria = limit.criteria == requirement.NOTHING or limit.property_names & private
    return limit_reports.ReportedLimit(
        limit.name, source, str(limit.measure),
        limit_texts.description(limit, private), _SCOPES[limit.rank_for(*owner)], str(limit.per),
        resource_type=limit.resource_type, pool=limit.pool,
        criteria=None if hides_criteria else str(limit.criteria),
        roles=tuple(sorted(limit.roles)),
        allowed=bool(limit.roles & roles) if limit.roles and roles is not None else None,
        **_bounds(use), **_figures(use, owner))


def _bounds(use):
    """Return the unit, and the `most` or `least`, of a limit as fields of a ReportedLimit."""
    limit = use.limit
    if limit.measure is rules.Measure.ROLES:
        return {}
    if limit.measure in rules.OF_DURATIONS:
        bound = 'least' if limit.measure in rules.WITH_LEAST else 'most'
        return {'unit': limit_reports.SECONDS, bound: int(limit.duration.total_seconds())}
    return {'unit': _UNITS.get(limit.measure, limit.unit), 'most': limit_texts.figure(use.bound)}


def _figures(use, owner):
    """Return the use of a limit as fields of a ReportedLimit; none if nothing is added up."""
    if use.bound is None or (use.limit.per is rules.Per.USER and not owner[1]):
        return {}
    return {'used': limit_texts.figure(use.used, up=True),
            'remaining': limit_texts.figure(use.remaining), 'until': use.until}


def _of_extension(rule):
    return limit_reports.ExtensionRule(
        rule.name, extension_words.description(rule), rule.resource_type, rule.pool,
        None if rule.within is None else int(rule.within.total_seconds()),
        None if rule.within_percent is None else float(rule.within_percent))
