# SPDX-License-Identifier: Apache-2.0
"""The callers, versions and ids that schemathesis cannot know, added to its cases."""
import copy

from hypothesis import strategies as st
from schemathesis import openapi
from support import builders

from climate.plugins.compute.servers import parsing

#: The number of times that each case is sent.
GUISES = 4
_FOR_ADMINS = ('/os-hosts', '/resources', '/services', '/servers', '/reservations/{id}/hosts')
_MOMENTS = st.sampled_from(['now', '2030-05-01 13:00', '2030-05-01T15:00:00Z', '2030-05-02 00:00',
                            '2030-05-01T14:30:00+02:00', '1999-01-01 00:00', '9999-12-31 23:59'])
_SPANS = st.sampled_from(['1h', '90m', '1d12h', 'PT1H', '3600', '0', '100w'])
_CRITERIA = st.sampled_from(['', '["==", "$gpu", "A100"]', '[">=", "$vcpus", "2"]',
                             '["and", ["=", "$gpu", "x"]]', '["in"]', '[[]]', '{}', '["=", "$"]'])
_VERSIONS = st.sampled_from(['1.1'] * 8 + ['1.0', 'latest', None])
# Who asks, of what is for everybody, and of what is for administrators.
_TOKENS = st.sampled_from([builders.DEMO] * 6 + [builders.ADMIN] * 2 + [builders.STRANGER, None])
_ADMINS = st.sampled_from([builders.ADMIN] * 8 + [builders.DEMO, None])


def register_formats():
    """Register formats of the document: times, spans and criteria, mostly valid."""
    openapi.format('moment', _MOMENTS | _MOMENTS | st.text(max_size=20))
    openapi.format('span', _SPANS | st.text(max_size=8))
    openapi.format('criteria', _CRITERIA | _CRITERIA | st.text(max_size=20))


def guises(operation):
    """The strategy for [(version, token, number)], GUISES of them, for a case of an operation."""
    who = _ADMINS if operation.path.startswith(_FOR_ADMINS) else _TOKENS
    return st.lists(st.tuples(_VERSIONS, who, st.integers(0, 63)),
                    min_size=GUISES, max_size=GUISES)


def named(ids, case, pick):
    """Put ids of things that exist into a case, as far as `pick`, a number, says so."""
    nouns = [noun for noun in ('properties', 'os-hosts', 'resources/host', 'servers',
                               'reservations', 'leases') if f'/{noun}/' in case.path]
    if nouns and pick % 4 != 3:
        known = ids[nouns[0]]
        case.path_parameters['id'] = known[pick // 4 % len(known)]
    if isinstance(case.body, dict) and pick % 4 < 2:
        if 'resource_id' in case.body:
            case.body['resource_id'] = ids['servers'][pick // 4 % 2]
        if case.operation.label in ('POST /os-hosts', 'POST /resources/host'):
            case.body['name'] = next(ids['new hosts'])
    for item in _reservations(case):
        if 'id' in item and pick % 4 < 2:
            # The lease of the same place, most of the time.
            item['id'] = ids['reservations'][pick // 4 % len(ids['leases'])]


def with_reservations(document):
    """The document in which each lease has one reservation or two.

    Most leases that are made from the document have none, so that there is little to them.
    """
    found = copy.deepcopy(document)
    for path, method in (('/leases', 'post'), ('/leases/{id}', 'put')):
        schema = found['paths'][path][method]['requestBody']['content'][
            'application/json']['schema']
        schema['required'] = [*schema.get('required', ()), 'reservations']
        schema['properties']['reservations'].update({'minItems': 1, 'maxItems': 2})
    return found


def mended(case, pick):
    """The case of a lease without what is wrong with most of them; None where it is of no lease.

    So its errors are not only in the fields that are checked first: its name and
    its time are fine, it has one reservation, of one form, and requests few resources.
    """
    if not case.operation.label.endswith((' /leases', ' /leases/{id}')) or not _reservations(case):
        return None
    first, dropped = _reservations(case)[0], ()
    if first.get('resource_type') == 'virtual:instance':
        dropped = parsing.FIELDS if pick % 2 else parsing.SIZED_FIELDS
    wish = {name: _mended(value) for name, value in first.items() if name not in dropped}
    if 'flavor_id' in wish:
        wish['flavor_id'] = '2'
    return case.operation.Case(
        path_parameters=dict(case.path_parameters), media_type='application/json',
        body={'reservations': [wish], 'name': 'mended', 'duration': '1h'})


def _mended(value):
    if type(value) is int:
        return value % 3 + 1
    return ''.join(filter(str.isprintable, value)) if isinstance(value, str) else value


def _reservations(case):
    found = case.body.get('reservations') if isinstance(case.body, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
