# SPDX-License-Identifier: Apache-2.0
"""Lookup of objects by name."""
from collections.abc import Callable
from collections.abc import Iterable
import re

from climate.client import errors
from climate.client import http

_UUID = re.compile(r'[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}', re.IGNORECASE)


def is_id(name_or_id: str) -> bool:
    """Whether a text is a UUID; an object whose name is a UUID can be found by its id only."""
    return _UUID.fullmatch(name_or_id) is not None


def only(what: str, name: str, candidates: Iterable[http.Record],
         shown: Callable[[http.Record], str]) -> http.Record:
    """Return the only candidate.

    :param what: the noun for messages, such as "lease".
    :param shown: returns the text that identifies a candidate in the message.
    :raises NotFound: there is no candidate.
    :raises Ambiguous: there are several candidates; the message lists their ids.
    """
    found = list(candidates)
    if not found:
        raise errors.NotFound(f'No {what} is called "{name}".', status=404)
    if len(found) > 1:
        several = f'{what}es' if what.endswith('s') else f'{what}s'
        raise errors.Ambiguous(
            f'{len(found)} {several} are called "{name}"; give the id of one: '
            + ', '.join(shown(record) for record in found),
            [str(record['id']) for record in found])
    return found[0]
