# SPDX-License-Identifier: Apache-2.0
"""Parse and check the query of a request: parameters, booleans, the project, the page of a list."""
from urllib import parse

from climate import errors
from climate.api import body

_LONGEST_PROJECT = 255


def check(request, schema):
    """Validate the query of a request against a JSON schema of texts.

    :raises BadRequest: a parameter is unknown, repeated or malformed; the error names it.
    """
    refuse_unknown(request, schema['properties'])
    body.check(dict(request.GET), schema)


def refuse_unknown(request, known, repeatable=()):
    """Refuse a query with an unknown or a repeated parameter, or with text that cannot be stored.

    :param known: the names of the known parameters, in the order in which the error lists them.
    :param repeatable: the names of the parameters that may be repeated.
    :raises BadField: the error names the parameter.
    """
    for name in request.GET:
        if name not in known:
            words = f'known are {", ".join(known)}' if known else 'the route has none'
            raise errors.BadField(field=name[:80], reason=f'no such parameter; {words}.')
        values = request.GET.getall(name)
        if len(values) > 1 and name not in repeatable:
            raise errors.BadField(field=name, reason='it is given more than once.')
        for value in values:
            body.refuse_unprintable(value, name, 1)


def flag(request, name):
    """Read a boolean parameter of the query; it is False if it is absent.

    :raises BadField: the value is not a boolean.
    """
    value = request.GET.get(name, 'false').lower()
    if value not in ('true', 'false', '1', '0', 'yes', 'no', ''):
        raise errors.BadField(field=name, reason=f'"{value[:40]}" is neither true nor false.')
    return value in ('true', '1', 'yes')


def project_id(request):
    """Return the project_id of a query.

    :raises BadField: the query has none, or it is too long.
    """
    value = request.GET.get('project_id')
    if not value or len(value) > _LONGEST_PROJECT:
        raise errors.BadField(field='project_id', reason=(
            f'name the project that would use the reservation, in 1 to {_LONGEST_PROJECT} '
            'characters: ?project_id=ID.'))
    return value


def row_number(text):
    """Parse the id of a database row; None if no row can have this id."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def page(request, most, marker=str):
    """Parse (limit, marker) of the query of a list; the defaults are `most` and None.

    :param marker: a function that parses the text of the marker.
    :raises BadField: the limit is not a number, or below 1.
    """
    limit = request.GET.get('limit', str(most))
    if not (limit.isascii() and limit.isdigit() and int(limit[:10]) > 0):
        raise errors.BadField(field='limit', reason=(
            f'"{limit[:40]}" is not a number from 1 to {most}.'))
    text = request.GET.get('marker')
    return min(int(limit[:10]), most), marker(text) if text else None


def page_of(items, limit):
    """Return (the items of a page, whether there is a next page).

    :param items: up to one item more than the page may have. The last one is None if a limit of
        bytes ends the page.
    """
    if items and items[-1] is None:
        return items[:-1], True
    return items[:limit], len(items) > limit


def next_link(request, marker):
    """Return the links to the next page, which begins after `marker`."""
    # These are pairs, because a parameter may be repeated.
    others = [pair for pair in request.GET.items() if pair[0] != 'marker']
    query = parse.urlencode([*others, ('marker', marker)])
    return [{'rel': 'next', 'href': f'{request.path_url}?{query}'}]
