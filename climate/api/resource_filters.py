# SPDX-License-Identifier: Apache-2.0
"""The filters and the page of a list of resources at REST 1.0, parsed from its query."""
from climate.api import body
from climate.api import queries
from climate.api.controllers import base

_PAGE = ('limit', 'marker')


def select(req, views, most, pool):
    """Return the resources of a list at REST 1.0 that the query selects.

    A parameter with the name of a field, such as ``reservable`` or a property, selects the
    resources with this value, or one of several values. REST 1.0 ignores other parameters. Without
    a limit the list is complete.

    :param views: the rendered resources, ordered by id.
    :param most: the largest limit.
    :raises BadField: a parameter is wrong; the error names it.
    :raises ResourceNotFound: no resource can have the id of the marker.
    """
    fields = {name for view in views for name in view}
    for name in req.GET:
        if name in _PAGE or name not in fields:
            continue
        values = {value.lower() for value in req.GET.getall(name)}
        views = [view for view in views if _text(view.get(name)) in values]
    for name in _PAGE:
        body.refuse_unprintable(req.GET.get(name, ''), name, 1)
    limit, marker = queries.page(req, most, lambda text: base.resource_id(text, pool))
    if marker is not None:
        views = [view for view in views if int(view['id']) > marker]
    return views[:limit] if 'limit' in req.GET else views


def _text(value):
    """Return the value of a field as a query names it; None for a missing field."""
    return None if value is None else str(value).lower()
