# SPDX-License-Identifier: Apache-2.0
"""The lookup of objects by name or id."""
from collections.abc import Callable
from collections.abc import Iterable
import re

from climate.client import errors
from climate.client import http

_UUID = re.compile(r'[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}', re.IGNORECASE)

_BEGIN = re.compile(r'[0-9a-f]{8}[-0-9a-f]{0,27}', re.IGNORECASE)


def is_id(name_or_id: str) -> bool:
    """Return whether a text is a UUID. An object whose name is a UUID is found by its id only."""
    return _UUID.fullmatch(name_or_id) is not None


def may_be_begin_of_id(text: str) -> bool:
    """Return whether a text may be the first letters of a UUID, as narrow tables show them."""
    return _BEGIN.fullmatch(text) is not None


def full_id(noun: str, text: str, candidates: Callable[[], Iterable[http.Record]]) -> str:
    """Return the id that begins with a text; the text itself if none does or it is an id.

    :raises Ambiguous: several ids begin with the text.
    """
    if is_id(text) or not may_be_begin_of_id(text):
        return text
    matches = [record for record in candidates() if str(record['id']).startswith(text.lower())]
    return str(only(noun, text, matches, lambda record: str(record['id']))['id']) if matches \
        else text


def only(noun: str, name: str, candidates: Iterable[http.Record],
         shown: Callable[[http.Record], str]) -> http.Record:
    """Return the only candidate.

    :param noun: the noun for messages, such as "lease".
    :param shown: returns the text that identifies a candidate in the message.
    :raises NotFound: there is no candidate.
    :raises Ambiguous: there are several candidates; the message lists their ids.
    """
    matches = list(candidates)
    if not matches:
        raise errors.NotFound(f'No {noun} is called "{name}".', status=404)
    if len(matches) > 1:
        several = f'{noun}es' if noun.endswith('s') else f'{noun}s'
        raise errors.Ambiguous(
            f'{len(matches)} {several} are called "{name}"; give the id of one: '
            + ', '.join(shown(record) for record in matches),
            [str(record['id']) for record in matches])
    return matches[0]
