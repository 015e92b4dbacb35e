# SPDX-License-Identifier: Apache-2.0
"""From a name to the one thing that has it."""
from collections.abc import Callable
from collections.abc import Iterable
import re

from climate.client import errors
from climate.client import http

_UUID = re.compile(r'[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}', re.IGNORECASE)


def is_id(name_or_id: str) -> bool:
    """Whether it is an id; whoever gives such a name to a thing must use its id, too."""
    return _UUID.fullmatch(name_or_id) is not None


def only(what: str, name: str, candidates: Iterable[http.Record],
         shown: Callable[[http.Record], str]) -> http.Record:
    """The only candidate.

    :param shown: how a candidate is told from the others in the message.
    :raises NotFound: there is none.
    :raises Ambiguous: there are several; the message lists their ids.
    """
    found = list(candidates)
    if not found:
        raise errors.NotFound(f'No {what} is called "{name}".', status=404)
    if len(found) > 1:
        raise errors.Ambiguous(
            f'{len(found)} {what}s are called "{name}"; give the id of one: '
            + ', '.join(shown(record) for record in found),
            [str(record['id']) for record in found])
    return found[0]
