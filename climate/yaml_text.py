# SPDX-License-Identifier: Apache-2.0
"""The reader of YAML that users and operators write, with bounds on what a text may expand to.

All scalars are returned as the text that they are in the document. So no number, date or word of
YAML 1.1 is converted, and no number is rounded.
"""
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
from typing import Any
from typing import NoReturn

import yaml

#: The maximum number of characters of a text, and of the document with all aliases replaced.
LONGEST = 256 * 1024
_DEEPEST = 50
# No other reader of YAML reads deeper. The time of libyaml grows with the depth.
_DEEPEST_SCANNED = 500
_MERGE = 'tag:yaml.org,2002:merge'
# libyaml is twenty times faster. PyYAML can be installed without it.
_LOADER = getattr(yaml, 'CBaseLoader', yaml.BaseLoader)
_NO_KEY = object()


def read(text: str, longest: int = LONGEST) -> Any:
    """Return the document as dicts, lists and texts, or None if it is empty.

    :raises ValueError: the text is not YAML, has merge keys or a key twice, or exceeds a bound. The
        message does not end with a full stop, and may show a part of the text.
    """
    if len(text) > longest:
        raise ValueError(f'it has {len(text)} characters; give at most {longest}')
    document = _Document(longest)
    try:
        document.take(yaml.parse(text, Loader=_LOADER))
    except (yaml.YAMLError, UnicodeError) as error:
        raise ValueError(f'it is not YAML: {str(error)[:200]}') from error
    return document.root


def scalars_of(text: str, key: str) -> Iterator[str]:
    """Yield the scalars in the values of a key, at any depth of a text that `read` may refuse.

    Aliases are not followed. Instead, each scalar with an anchor is yielded. The iterator ends
    where the text is not YAML.
    """
    depth, inside, is_value = 0, None, False
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
                inside = None if inside == depth else inside
            elif isinstance(event, yaml.NodeEvent):
                is_scalar = isinstance(event, yaml.ScalarEvent)
                if is_scalar and (is_value or inside is not None or event.anchor):
                    yield event.value
                if isinstance(event, yaml.CollectionStartEvent):
                    inside = depth if is_value and inside is None else inside
                    depth += 1
                # A value that equals the key counts, too: it may be a key.
                is_value = is_scalar and event.value == key
            if depth > _DEEPEST_SCANNED:
                return
    except (yaml.YAMLError, UnicodeError):
        return


@dataclasses.dataclass
class _Open:
    """A sequence or mapping whose end was not read yet.

    :ivar size: the number of characters and nodes in it, with aliases replaced.
    """

    value: Any
    anchor: str | None
    size: int = 1
    key: Any = _NO_KEY

    def add(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is _NO_KEY:
            if not isinstance(value, str):
                _refuse('a key is a list or an object; use text')
            if value in self.value:
                _refuse(f'the key "{value[:40]}" is given twice in one object; leave one out')
            self.key = value
        else:
            self.value[self.key] = value
            self.key = _NO_KEY


class _Document:
    """Builds a document from events. It uses no recursion, so that depth costs no stack."""

    def __init__(self, longest: int) -> None:
        self.root: Any = None
        self._longest = longest
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._documents = 0

    def take(self, events: Iterable[yaml.Event]) -> None:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    _refuse('it has several documents; give one')
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = self._open.pop()
                self._put(closed.value, closed.size, closed.anchor)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.tag == _MERGE or (event.value == '<<' and event.style in (None, '')):
            _refuse('it has a merge key ("<<"); write the entries out')
        self._put(event.value, 1 + len(event.value), event.anchor)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            _refuse(f'the alias "*{event.anchor[:40]}" refers to nothing before it')
        self._put(*self._anchors[event.anchor], None)

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._open) == _DEEPEST:
            _refuse(f'it is nested too deep; use at most {_DEEPEST} levels')
        self._open.append(_Open(
            [] if isinstance(event, yaml.SequenceStartEvent) else {}, event.anchor))

    def _put(self, value: Any, size: int, anchor: str | None) -> None:
        """Add a complete node to the collection around it.

        :param size: the size of the node, with aliases replaced.
        """
        if anchor is not None:
            self._anchors[anchor] = value, size
        if not self._open:
            self.root = value
            return
        around = self._open[-1]
        around.size += size
        # Each node has a size of 1 besides its characters, for which the text has a separator.
        if around.size > 2 * self._longest:
            _refuse(f'its aliases stand for more than {self._longest} characters; use fewer')
        around.add(value)


def _refuse(reason: str) -> NoReturn:
    raise ValueError(reason)
