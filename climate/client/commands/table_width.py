# SPDX-License-Identifier: Apache-2.0
"""The width of tables for people: they fit the terminal, with the ids last.

Only a terminal has a width. Files and pipes get all values in full.
"""
from collections.abc import Iterable
from collections.abc import Sequence
import re
import shutil
import textwrap
import typing

from cliff import columns as formattable
import wcwidth

from climate.client.commands import charts
from climate.client.commands import columns

#: The number of letters of a shortened id, which commands accept.
ID_LETTERS = 8
# A column that is not an id is never narrower, unless all of its texts are.
_LEAST = 8
_LONG_ID = re.compile(r'[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}')

Table = tuple[list[str], list[list[typing.Any]]]


def of_terminal(stream: typing.Any) -> int | None:
    """Return the number of columns of the terminal behind a stream; None if it is no terminal."""
    try:
        return shutil.get_terminal_size().columns if stream.isatty() else None
    except (AttributeError, ValueError):
        return None


def ids_last(names: Sequence[str], rows: Iterable[Sequence[typing.Any]]) -> Table:
    """Move the columns with ids behind the others."""
    order = sorted(range(len(names)), key=lambda place: _is_id(names[place]))
    return [names[place] for place in order], [[row[place] for place in order] for row in rows]


def fitted(names: Sequence[str], rows: Sequence[Sequence[typing.Any]], width: int) -> Table:
    """Make a table fit a width.

    Ids are shortened, then the widest columns wrapped. Columns that still do not fit are left out,
    the last ones first.
    """
    texts = [[text_of(cell) for cell in row] for row in rows]
    if sum(_natural(names, texts)) + columns.borders(len(names)) <= width:
        return [*names], [[*row] for row in rows]
    texts = [[_short(cell) if _is_id(name) else cell
              for name, cell in zip(names, row, strict=True)] for row in texts]
    least = [_least(name, [row[place] for row in texts]) for place, name in enumerate(names)]
    count = len(names)
    while count > 1 and sum(least[:count]) + columns.borders(count) > width:
        count -= 1
    names = [*names[:count]]
    texts = [row[:count] for row in texts]
    widths = _shrunk(_natural(names, texts), least, width - columns.borders(count))
    return names, [[_wrapped(cell, text, most) for cell, text, most in zip(
        row, texts_of_row, widths, strict=False)]
        for row, texts_of_row in zip(rows, texts, strict=True)]


def line_wrapped(line: str, width: int | None) -> str:
    """Wrap a line of text at a width; None: do not wrap it."""
    if width is None or _width(line) <= width:
        return line
    return textwrap.fill(line, width, subsequent_indent='  ', break_on_hyphens=False)


def _is_id(name: str) -> bool:
    return name == 'id' or name.endswith('_id')


def text_of(cell: typing.Any) -> typing.Any:
    """Return the text of a cell for people; a number stays a number."""
    return cell.human_readable() if isinstance(cell, formattable.FormattableColumn) else cell


def _short(cell: typing.Any) -> typing.Any:
    return cell[:ID_LETTERS] if isinstance(cell, str) and _LONG_ID.fullmatch(cell) else cell


def _natural(names: Sequence[str], rows: Sequence[Sequence[typing.Any]]) -> list[int]:
    widths = [_width(name) for name in names]
    for row in rows:
        widths = [max(width, _width(cell)) for width, cell in zip(widths, row, strict=True)]
    return widths


def _width(cell: typing.Any) -> int:
    return max((max(wcwidth.wcswidth(line), 0) or len(line)
                for line in str(cell).splitlines()), default=0)


def _least(name: str, cells: Sequence[typing.Any]) -> int:
    """Return the least width of a column: numbers are never wrapped."""
    natural = _natural([name], [[cell] for cell in cells])[0]
    if not all(isinstance(cell, str) for cell in cells):
        return natural
    return min(natural, max(_LEAST, len(name)))


def _shrunk(widths: list[int], least: Sequence[int], space: int) -> list[int]:
    """Take from the widest column until all fit, or each is as narrow as it may be."""
    while sum(widths) > space:
        wide = [place for place, width in enumerate(widths) if width > least[place]]
        if not wide:
            break
        widths[max(wide, key=lambda place: widths[place])] -= 1
    return widths


def _wrapped(cell: typing.Any, text: typing.Any, width: int) -> typing.Any:
    """Return the text of a cell with lines of at most `width` letters."""
    if not isinstance(text, str) or _width(text) <= width:
        return text
    if isinstance(cell, charts.Sparkline):
        return cell.narrowed(width)
    if _width(text) > max(map(len, text.splitlines())):
        # Letters of two columns, which textwrap counts as one.
        width //= 2
    return '\n'.join(textwrap.fill(
        line, width, break_on_hyphens=False,
        subsequent_indent=' ' * min(len(line) - len(line.lstrip()), width // 2))
        for line in text.splitlines())
