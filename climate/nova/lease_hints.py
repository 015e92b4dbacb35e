# SPDX-License-Identifier: Apache-2.0
"""The scheduler hints ``reserved`` and ``lease_params``, with which a server gets a lease."""
import dataclasses
import datetime
import json

from climate import json_text
from climate import moments
from climate.nova import errors
from climate.nova import scheduler_hints

#: The keys under which Nova accepts hints. If both are present, Nova reads only the first.
KEYS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')

_RESERVED = 'reserved'
_PARAMS = 'lease_params'
_MOMENTS = ('start', 'end', 'before_end')
_KNOWN = ('name', *_MOMENTS, 'duration', 'on_end')
# The texts that Nova accepts for yes and no.
_FLAGS = {'true': True, '1': True, 'on': True, 'yes': True,
          'false': False, '0': False, 'off': False, 'no': False}
_LONGEST_PARAMS = 4096
_LONGEST_TEXT = 255
_EXAMPLE = '{"start": "now", "end": "2030-12-01 16:07"}'
_MOMENTS_HELP = 'now, +2h, "2030-12-1 16:07" in UTC, or 2030-12-01T16:07:00Z'
_DURATION_HELP = moments.DURATION_HELP


@dataclasses.dataclass(frozen=True)
class LeaseHints:
    """The hints of a request that concern leases.

    :ivar reserved: whether a lease is requested; None if the hint is missing.
    :ivar params: the checked `lease_params`; None if the hint is missing.
    :ivar reservation: whether the request names existing reservations.
    :ivar named_id: the id of a reservation or a lease in the hint `reservation`; None if the hint
        is missing or has several ids.
    """

    reserved: bool | None
    params: dict | None
    reservation: bool
    named_id: str | None = None


def read(body):
    """Return the LeaseHints in the body of a request to boot.

    :raises BadBootRequest: a hint is malformed, or two contradict each other.
    """
    parts = [body[key] for key in KEYS if key in body]
    for key in KEYS:
        if not isinstance(body.get(key, {}), dict):
            raise errors.BadBootRequest(key, 'it must be an object: {"reserved": true, …}.')
    named = scheduler_hints.RESERVATION in parts[0] if parts else False
    ids = scheduler_hints.ids(parts[0][scheduler_hints.RESERVATION]) if named else None
    return LeaseHints(_agreed(parts, _RESERVED, _flag), _agreed(parts, _PARAMS, _params), named,
                      ids[0] if ids is not None and len(ids) == 1 else None)


def without(body):
    """Return a copy of `body` without the two hints, and without keys that become empty."""
    changed = dict(body)
    for key in KEYS:
        if key in changed:
            changed[key] = {name: value for name, value in changed[key].items()
                            if name not in (_RESERVED, _PARAMS)}
            if not changed[key]:
                del changed[key]
    return changed


def lease_params(hints, default_days=None):
    """Return the parameters of the lease for the request, or None if the request gets no lease.

    :param default_days: the length of the lease of a request without hints; None: such a request
        gets no lease.
    :raises BadBootRequest: the hints cannot be combined, or the length of the lease is missing.
    """
    by_default = default_days is not None and not hints.reservation
    if hints.reserved and hints.reservation:
        raise errors.BadBootRequest(_RESERVED, (
            'the hint reservation already names a reservation: leave one of the two out.'))
    if not hints.reserved and hints.params is not None and (
            hints.reserved is False or not by_default):
        raise errors.BadBootRequest(_PARAMS, (
            'it needs the hint reserved=True too: add that, or leave lease_params out.'))
    if not hints.reserved and not by_default:
        return None
    params = dict(hints.params or {})
    if 'end' not in params and 'duration' not in params:
        if not by_default:
            raise errors.BadBootRequest(_PARAMS, (
                f'"end" or "duration" is missing: say how long the lease lasts: {_EXAMPLE}.'))
        params['duration'] = f'{default_days}d'
    return params


def _agreed(parts, name, read_one):
    values = [read_one(part[name]) for part in parts if name in part]
    if len(values) == 2 and values[0] != values[1]:
        raise errors.BadBootRequest(name, (
            f'{KEYS[0]} and {KEYS[1]} contradict each other: leave one of the two out.'))
    return values[0] if values else None


def _flag(value):
    # 1 and true are accepted, 1.0 and lists are not.
    text = str(value).lower() if isinstance(value, (str, bool, int)) else None
    if text not in _FLAGS:
        raise errors.BadBootRequest(_RESERVED, f'{_shown(value)} is neither True nor False.')
    return _FLAGS[text]


def _params(value):
    if isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, dict):
        raise errors.BadBootRequest(_PARAMS, (
            f'{_shown(value)} is not an object: write {_EXAMPLE}, as JSON.'))
    unknown = sorted(value.keys() - set(_KNOWN))
    if unknown:
        raise errors.BadBootRequest(_PARAMS, (
            f'{_shown(unknown[0])} is not known. Known are: {", ".join(_KNOWN)}.'))
    return {name: _checked(name, item) for name, item in value.items()}


def _parsed(text):
    if len(text) > _LONGEST_PARAMS:
        raise errors.BadBootRequest(_PARAMS, (
            f'it has {len(text)} characters; at most {_LONGEST_PARAMS} are read.'))
    try:
        return json.loads(text, object_pairs_hook=json_text.unique)
    except (ValueError, RecursionError) as error:
        raise errors.BadBootRequest(_PARAMS, (
            f'{_shown(text)} is not JSON ({error}): write {_EXAMPLE}.')) from error


def _checked(name, value):
    if name == 'duration' and isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        forms = {'duration': _DURATION_HELP, 'name': 'text', 'on_end': 'text such as "snapshot"'}
        raise errors.BadBootRequest(f'{_PARAMS}.{name}', (
            f'{_shown(value)} cannot be used: write {forms.get(name, _MOMENTS_HELP)}.'))
    if len(value) > _LONGEST_TEXT:
        raise errors.BadBootRequest(f'{_PARAMS}.{name}', (
            f'it has {len(value)} characters; at most {_LONGEST_TEXT} are read.'))
    if name == 'duration':
        return _duration(name, value)
    return _moment(name, value) if name in _MOMENTS else value


def _moment(name, text):
    """Check the text of a moment. The text is not converted, because Climate uses its own clock."""
    try:
        moments.moment(text, datetime.datetime.now(datetime.UTC))
    except ValueError as error:
        raise errors.BadBootRequest(f'{_PARAMS}.{name}', (
            f'{_shown(text)} is not a time: write {_MOMENTS_HELP}.')) from error
    return text.strip()


def _duration(name, text):
    try:
        moments.seconds(text)
    except ValueError as error:
        raise errors.BadBootRequest(f'{_PARAMS}.{name}', (
            f'{_shown(text)} is not a duration: {error}.')) from error
    return text.strip()


def _shown(value):
    text = str(value)
    return f'"{text[:80]}…"' if len(text) > 80 else f'"{text}"'
