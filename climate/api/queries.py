# SPDX-License-Identifier: Apache-2.0
"""Checks of the query of a request: which parameters it may have, and how often."""
from climate import errors
from climate.api import body


def check(request, schema):
    """Validate the query of a request against a JSON schema of texts.

    :raises BadRequest: a parameter is unknown, repeated or malformed; the error names it.
    """
    refuse_unknown(request, schema['properties'])
    body.check(dict(request.GET), schema)


def refuse_unknown(request, known, repeatable=()):
    """Refuse a query with a parameter that the route does not know, or that is given twice.

    :param known: the names of the parameters, in the order in which the error lists them.
    :param repeatable: the names of those that may be given several times.
    :raises BadField: the query has such a parameter, or a text that cannot be stored; the error
        names the parameter.
    """
    for name in request.GET:
        if name not in known:
            words = f'known are {", ".join(known)}' if known else 'the route has none'
            raise errors.BadField(field=name[:80], reason=f'no such parameter; {words}.')
        values = request.GET.getall(name)
        if len(values) > 1 and name not in repeatable:
            raise errors.BadField(field=name, reason='it is given more than once.')
        for each in values:
            body.refuse_unprintable(each, name, 1)
