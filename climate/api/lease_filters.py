# SPDX-License-Identifier: Apache-2.0
"""The filters, the order and the page of a list of leases, parsed from its query."""
from climate import errors
from climate.api import body
from climate.api import queries
from climate.api import times
from climate.api.controllers import base
from climate.domain import records
from climate.domain import status_words
from climate.policies import leases as rules

_SORT_KEYS = ('created_at', 'start', 'end', 'name', 'id')
_FILTERS = ('limit', 'marker', 'sort', 'status', 'name', 'project_id', 'all_projects',
            'starts_before', 'ends_after', 'resource_id', 'deleted', 'idle')
_FILTERS_1_0 = ('limit', 'marker', 'status', 'lease_name', 'project_id')


def query(req, parts, caller, limit, marker):
    """Return the LeaseQuery of a page from REST 1.1 on.

    :param parts: the ``controllers.base.Parts`` of the API process.
    :raises BadField: a parameter is wrong; the error names it.
    :raises Forbidden: the caller may not see the leases of other projects.
    """
    queries.refuse_unknown(req, _FILTERS, repeatable=('status',))
    given = req.GET
    project_id = given.get('project_id', caller.project_id)
    everything = queries.flag(req, 'all_projects')
    deleted = queries.flag(req, 'deleted')
    if everything or deleted or project_id != caller.project_id:
        parts.policy.authorize(caller, rules.ALL_PROJECTS)
    if everything:
        project_id = given.get('project_id')
    resource = given.get('resource_id')
    return records.LeaseQuery(
        project_id=project_id, status=_status(given), name=given.get('name'),
        starts_before=_moment(parts, given, 'starts_before'),
        ends_after=_moment(parts, given, 'ends_after'),
        resource_id=base.resource_id(resource) if resource else None, deleted=deleted,
        idle=queries.flag(req, 'idle'), sort=_sort(given.get('sort', 'created_at')),
        limit=limit, marker=marker, most_bytes=parts.conf.api.max_page_bytes)


def query_1_0(req, parts, caller):
    """Return the LeaseQuery of a list at REST 1.0, which ignores unknown parameters.

    Clients of Chameleon send these parameters; others send none. Without a limit the list is
    complete.

    :raises BadField: a parameter is wrong; the error names it.
    :raises Forbidden: the query names another project, whose leases the caller may not see.
    """
    given = req.GET
    for name in (each for each in _FILTERS_1_0 if each in given):
        body.refuse_unprintable(given[name], name, 1)
    project_id = given.get('project_id')
    if queries.flag(req, 'all_tenants') or project_id not in (None, caller.project_id):
        parts.policy.authorize(caller, rules.ALL_PROJECTS)
    elif project_id is None and not parts.policy.allows(caller, rules.ALL_PROJECTS):
        project_id = caller.project_id
    limit, marker = queries.page(req, parts.conf.api.max_limit)
    return records.LeaseQuery(
        project_id=project_id, status=_status(given), name=given.get('lease_name'),
        limit=limit if 'limit' in given else None, marker=marker)


def _status(given):
    """Return the status words of a query, or None; refuse unknown ones."""
    status = ','.join(given.getall('status')) if 'status' in given else None
    if status is not None:
        status_words.all_selected(status)
    return status


def _moment(parts, given, name):
    return times.asked(name, given[name], parts.clock()) if name in given else None


def _sort(text):
    keys = []
    for part in text.split(','):
        name, _, direction = part.strip().partition(':')
        if name not in _SORT_KEYS or direction not in ('', 'asc', 'desc'):
            raise errors.BadField(field='sort', reason=(
                f'"{part[:40]}" is not a sort key: use {", ".join(_SORT_KEYS)}, each with :asc '
                'or :desc.'))
        keys.append((name, direction != 'desc'))
    return tuple(keys)
