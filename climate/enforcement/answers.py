# SPDX-License-Identifier: Apache-2.0
"""The answers of an enforcement service, and their texts for users."""
import dataclasses
import json
import re
from typing import Any

_LONGEST_TEXT = 500
# The text of an exception as Python shows it, such as ValueError('reason').
_REPR = re.compile(r'''\s*[A-Za-z_]\w*\(\s*(['"])(?P<text>.*)\1,?\s*\)\s*''', re.DOTALL)
_MESSAGE_KEYS = ('message', 'error', 'detail')
_NO_REASON = 'it gives no reason.'


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to one call.

    :ivar content: the first bytes of the body.
    """

    status: int
    content: bytes = b''

    @property
    def text(self) -> str | None:
        """The message in the body as one line of at most 500 characters; None: it has none."""
        fields = self._fields()
        found = [fields[key] for key in _MESSAGE_KEYS if isinstance(fields.get(key), str)]
        return one_line(found[0]) or None if found else None

    @property
    def reason(self) -> str:
        """The reason of a refusal, for users."""
        return self.text or _NO_REASON

    @property
    def excerpt(self) -> str:
        """The message or else the beginning of the body, for operators."""
        return self.text or one_line(self.content.decode(errors='replace'))[:200] or 'no text'

    def _fields(self) -> dict[str, Any]:
        try:
            fields = json.loads(self.content)
        except (ValueError, RecursionError):
            return {}
        return fields if isinstance(fields, dict) else {}


def one_line(text: str) -> str:
    """Return a text of a service on one line, without the Python around it, cut to 500 characters.

    Characters that a terminal would interpret become spaces.
    """
    wrapped = _REPR.fullmatch(text)
    if wrapped is not None:
        text = re.sub(r'''\\(['"\\])''', r'\1', wrapped['text']).replace('\\n', ' ')
    line = ' '.join(''.join(letter if letter.isprintable() else ' ' for letter in text).split())
    return line if len(line) <= _LONGEST_TEXT else line[:_LONGEST_TEXT - 1] + '…'
