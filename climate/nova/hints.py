# SPDX-License-Identifier: Apache-2.0
"""The scheduler hints ``reserved`` and ``lease_params``: what a request to boot says of a lease."""
import dataclasses
import json
import re

from climate.nova import errors

#: The keys under which Nova takes hints; where both are there it reads the first only.
KEYS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')
#: The hint that names reservations that exist.
RESERVATION = 'reservation'

_RESERVED = 'reserved'
_PARAMS = 'lease_params'
_MOMENTS = ('start', 'end', 'before_end')
_KNOWN = ('name', *_MOMENTS, 'duration', 'on_end')
# Nova's own words for yes and no.
_FLAGS = {'true': True, '1': True, 'on': True, 'yes': True,
          'false': False, '0': False, 'off': False, 'no': False}
_LONGEST_PARAMS = 4096
_LONGEST_TEXT = 255
_EXAMPLE = '{"start": "now", "end": "2030-12-01 16:07"}'
# Which zone it is, and whether there is such a day, is for Climate to say.
_MOMENT = re.compile(r'(\d{4})-(\d{1,2})-(\d{1,2})(?:([ Tt])(\d{1,2}):(\d{1,2})(.*))?', re.ASCII)


@dataclasses.dataclass(frozen=True)
class Hints:
    """What the hints of a request say.

    :ivar reserved: whether a lease is wanted; None where nothing says so.
    :ivar params: `lease_params`, checked; None where there are none.
    :ivar reservation: it names reservations that exist.
    """

    reserved: bool | None
    params: dict | None
    reservation: bool


def read(body):
    """The Hints of the body of a request to boot.

    :raises BadRequest: they cannot be understood, or contradict each other.
    """
    parts = [body[key] for key in KEYS if key in body]
    for key in KEYS:
        if not isinstance(body.get(key, {}), dict):
            raise errors.BadRequest(key, 'it must be an object: {"reserved": true, …}.')
    return Hints(_agreed(parts, _RESERVED, _flag), _agreed(parts, _PARAMS, _params),
                 bool(parts) and RESERVATION in parts[0])


def without(body):
    """A body like `body` that has neither of the two hints; no key without hints either."""
    found = dict(body)
    for key in KEYS:
        if key in found:
            found[key] = {name: value for name, value in found[key].items()
                          if name not in (_RESERVED, _PARAMS)}
            if not found[key]:
                del found[key]
    return found


def wanted(hints, default_days=None):
    """The parameters of the lease that the request is to get, or None: it gets none.

    :param default_days: how long the lease lasts that a request gets which asks for none; None:
        only those that ask get one.
    :raises BadRequest: what the hints say makes no sense together.
    """
    by_default = default_days is not None and not hints.reservation
    if hints.reserved and hints.reservation:
        raise errors.BadRequest(_RESERVED, (
            'the hint reservation names a reservation already: leave one of the two out.'))
    if not hints.reserved and hints.params is not None and (
            hints.reserved is False or not by_default):
        raise errors.BadRequest(_PARAMS, (
            'it needs the hint reserved=True beside it: add that, or leave lease_params out.'))
    if not hints.reserved and not by_default:
        return None
    params = dict(hints.params or {})
    if 'end' not in params and 'duration' not in params:
        if not by_default:
            raise errors.BadRequest(_PARAMS, (
                f'"end" or "duration" is missing: say how long the lease lasts: {_EXAMPLE}.'))
        params['duration'] = f'{default_days}d'
    return params


def _agreed(parts, name, read_one):
    found = [read_one(part[name]) for part in parts if name in part]
    if len(found) == 2 and found[0] != found[1]:
        raise errors.BadRequest(name, f'{KEYS[0]} and {KEYS[1]} contradict each other: leave one '
                                      'of the two out.')
    return found[0] if found else None


def _flag(value):
    # JSON's 1 and true are the same to Python, but not 1.0 and lists.
    text = str(value).lower() if isinstance(value, (str, bool, int)) else None
    if text not in _FLAGS:
        raise errors.BadRequest(_RESERVED, f'{_shown(value)} is neither True nor False.')
    return _FLAGS[text]


def _params(value):
    if isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, dict):
        raise errors.BadRequest(_PARAMS, (
            f'{_shown(value)} is no object: write {_EXAMPLE}, as JSON.'))
    unknown = sorted(value.keys() - set(_KNOWN))
    if unknown:
        raise errors.BadRequest(_PARAMS, (
            f'{_shown(unknown[0])} is not known. Known are: {", ".join(_KNOWN)}.'))
    return {name: _checked(name, item) for name, item in value.items()}


def _parsed(text):
    if len(text) > _LONGEST_PARAMS:
        raise errors.BadRequest(_PARAMS, (
            f'it has {len(text)} characters; at most {_LONGEST_PARAMS} are read.'))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise errors.BadRequest(_PARAMS, (
            f'{_shown(text)} is not JSON ({error}): write {_EXAMPLE}.')) from error


def _checked(name, value):
    if name == 'duration' and isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        ways = {'duration': 'seconds, or text such as "90m", "1d12h"',
                'name': 'text', 'on_end': 'text such as "snapshot"'}
        raise errors.BadRequest(f'{_PARAMS}.{name}', (
            f'{_shown(value)} cannot be used: write '
            f'{ways.get(name, "text such as 2030-12-01 16:07")}.'))
    if len(value) > _LONGEST_TEXT:
        raise errors.BadRequest(f'{_PARAMS}.{name}', (
            f'it has {len(value)} characters; at most {_LONGEST_TEXT} are read.'))
    return _padded(value) if name in _MOMENTS else value


def _padded(text):
    """A moment with two digits wherever Climate wants two; other text as it is."""
    match = _MOMENT.fullmatch(text.strip())
    if not match:
        return text.strip()
    year, month, day, between, hour, minute, rest = match.groups()
    date = f'{year}-{month:0>2}-{day:0>2}'
    return f'{date}{between}{hour:0>2}:{minute:0>2}{rest}' if between else date


def _shown(value):
    text = str(value)
    return f'"{text[:80]}…"' if len(text) > 80 else f'"{text}"'
