# SPDX-License-Identifier: Apache-2.0
"""The filters, the order and the page of a list of leases, parsed from its query."""
import dataclasses

from climate import errors
from climate.api import body
from climate.api import queries
from climate.api import times
from climate.api.controllers import base
from climate.domain import records
from climate.domain import status_words
from climate.policies import leases as rules

_SORT_KEYS = ('created_at', 'start', 'end', 'name', 'status', 'owner', 'project', 'id')
_FILTERS = ('limit', 'marker', 'sort', 'search', 'status', 'name', 'owner', 'project',
            'project_id', 'all_projects', 'resource_type', 'resource', 'resource_id',
            'starts_before', 'ends_after', 'deleted', 'idle', 'series_id')
_FILTERS_1_0 = ('limit', 'marker', 'status', 'lease_name', 'project_id')
# The columns of names and ids of users and projects have this length.
_LONGEST = 255


def query(req, parts, caller, limit, marker):
    """Return the LeaseQuery of a page from REST 1.1 on.

    :param parts: the ``controllers.base.Parts`` of the API process.
    :raises BadField: a parameter is wrong; the error names it.
    :raises Forbidden: the caller may not see the leases of other projects, or names of resources.
    """
    queries.refuse_unknown(req, _FILTERS, repeatable=('status',))
    given = req.GET
    query = records.LeaseQuery(
        status=_status(given), name=given.get('name'), search=_text(given, 'search'),
        owner=_text(given, 'owner'), resource_type=_resource_type(parts, given),
        starts_before=_moment(parts, given, 'starts_before'),
        ends_after=_moment(parts, given, 'ends_after'),
        by_names=parts.policy.allows(caller, rules.GET_NAMES),
        deleted=queries.flag(req, 'deleted'), idle=queries.flag(req, 'idle'),
        series_id=_text(given, 'series_id'),
        sort=_sort(given.get('sort', 'created_at')), limit=limit, marker=marker,
        most_bytes=parts.conf.api.max_page_bytes)
    return _of_resource(_with_shares(_of_projects(query, req, parts, caller), caller),
                        parts, caller, given)


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
    return _with_shares(records.LeaseQuery(
        project_id=project_id, status=_status(given), name=given.get('lease_name'),
        limit=limit if 'limit' in given else None, marker=marker), caller)


def _with_shares(query, caller):
    """Return a LeaseQuery that also selects the leases that are shared with the caller.

    A list of the leases of another project has none of them.
    """
    if query.project_id != caller.project_id or not caller.project_id:
        return query
    return dataclasses.replace(query, receiver=(caller.project_id, caller.user_id))


def _of_projects(query, req, parts, caller):
    """Return a LeaseQuery for the projects that the request names; by default, the caller's.

    :raises Forbidden: the caller may see only leases of the own project, and names others.
    """
    given = req.GET
    project, project_id = _text(given, 'project'), given.get('project_id')
    is_own = project_id in (None, caller.project_id) and project in (
        None, caller.project_id, caller.project_name)
    everything = queries.flag(req, 'all_projects') or project is not None
    if query.deleted or not is_own or (everything and project is None):
        parts.policy.authorize(caller, rules.ALL_PROJECTS)
    elif everything and not parts.policy.allows(caller, rules.ALL_PROJECTS):
        # The name is that of the own project, and others may have the same one.
        return dataclasses.replace(query, project_id=caller.project_id)
    if not everything:
        return dataclasses.replace(query, project_id=project_id or caller.project_id)
    return dataclasses.replace(query, project_id=project_id, project=project)


def _of_resource(query, parts, caller, given):
    """Return a LeaseQuery for the leases of a resource, if the request names one.

    :raises Forbidden: the caller may not use names of resources; an id is always possible.
    """
    if 'resource_id' in given and 'resource' in given:
        raise errors.BadField(field='resource', reason='give it, or resource_id, but not both.')
    if given.get('resource_id'):
        return dataclasses.replace(query, resource_id=base.resource_id(given['resource_id']))
    name = _text(given, 'resource')
    if name is None:
        return query
    if parts.policy.allows(caller, rules.GET_RESOURCE_NAMES):
        return dataclasses.replace(query, resource=name)
    if queries.row_number(name) is None:
        raise errors.Forbidden(action=rules.GET_RESOURCE_NAMES)
    return dataclasses.replace(query, resource_id=queries.row_number(name))


def _text(given, name):
    """Return a parameter that is a text, or None.

    :raises BadField: it is empty or too long.
    """
    if name not in given:
        return None
    if not 0 < len(given[name]) <= _LONGEST:
        raise errors.BadField(field=name, reason=(
            f'it must have 1 to {_LONGEST} characters, or be left out.'))
    return given[name]


def _resource_type(parts, given):
    wanted = given.get('resource_type')
    if wanted is not None and wanted not in parts.plugins:
        raise errors.BadField(field='resource_type', reason=(
            f'"{wanted[:80]}" is none of {", ".join(sorted(parts.plugins))}.'))
    return wanted


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
