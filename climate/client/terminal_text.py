# SPDX-License-Identifier: Apache-2.0
"""Text for terminals of any encoding.

A letter that the encoding of a stream lacks is printed in ASCII: blocks of a chart become letters
of different heights, and other letters the escape that Python has for them.
"""
import codecs
import io
import os
import typing

_ERRORS = 'climate-terminal'
_PLAIN = {**dict(zip('▁▂▃▄▅▆▇█', '_.-:=+*#', strict=True)), '…': '...', '→': '->', '–': '-',
          '“': '"', '”': '"', '’': "'"}


def prepare(*streams: typing.Any) -> None:
    """Prepare streams to print every text, whatever their encoding."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and stream.errors != _ERRORS:
            stream.reconfigure(errors=_ERRORS)


def argument(word: str) -> str:
    """Return an argument of the program as text, also where the terminal is not in UTF-8.

    :raises ValueError: the bytes of the argument are no text.
    """
    return os.fsencode(word).decode() if any('\udc80' <= letter <= '\udcff' for letter in word) \
        else word


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return ''.join(_PLAIN.get(letter) or letter.encode('ascii', 'backslashreplace').decode()
                   for letter in error.object[error.start:error.end]), error.end


codecs.register_error(_ERRORS, _plain)
