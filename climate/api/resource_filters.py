# SPDX-License-Identifier: Apache-2.0
"""The filters and the page of a list of resources, parsed from its query."""
from climate import errors
from climate.api import body
from climate.api import queries
from climate.domain import records
from climate.policies import leases as lease_rules

_PAGE = ('limit', 'marker')
_LONGEST = {'search': 255, 'criteria': 10_000}


def query(req, policy, caller):
    """Parse the ResourceQuery of a list from REST 1.1 on; None: it selects all resources.

    :raises BadField: a parameter is wrong; the error names it.
    :raises Forbidden: the caller asks for leases of all projects, and may not see them.
    """
    for name, most in _LONGEST.items():
        value = req.GET.get(name, '')
        body.refuse_unprintable(value, name, 1)
        if len(value) > most:
            raise errors.BadField(field=name, reason=f'it has more than {most} characters.')
    with_leases = queries.flag(req, 'state')
    if with_leases:
        policy.authorize(caller, lease_rules.ALL_PROJECTS)
    criteria = req.GET.get('criteria') or None
    found = records.ResourceQuery(
        req.GET.get('search') or None, criteria, with_leases,
        hidden=criteria is not None and policy.allows(caller, lease_rules.HIDDEN_CRITERIA))
    return None if found == records.ResourceQuery() else found


def page(req, most, marker):
    """Parse (limit, marker) of a list at REST 1.0.

    Without a limit the list is complete, and the limit None.

    :param most: the largest limit.
    :param marker: a function that parses the marker.
    :raises BadField: a parameter is wrong; the error names it.
    """
    for name in _PAGE:
        body.refuse_unprintable(req.GET.get(name, ''), name, 1)
    limit, after = queries.page(req, most, marker)
    return limit if 'limit' in req.GET else None, after


def matching(req, views):
    """Return the rendered resources that the query selects at REST 1.0.

    A parameter with the name of a field, such as ``reservable`` or a property, selects the
    resources with this value, or with one of several values. REST 1.0 ignores other parameters.
    """
    fields = {name for view in views for name in view}.difference(_PAGE)
    for name in fields.intersection(req.GET):
        values = {value.lower() for value in req.GET.getall(name)}
        views = [view for view in views if _text(view.get(name)) in values]
    return views


def _text(value):
    """Return the value of a field as a query names it; None for a missing field."""
    return None if value is None else str(value).lower()
