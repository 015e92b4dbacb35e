# SPDX-License-Identifier: Apache-2.0
"""The catalogue of all English texts of the console, for pages and scripts alike."""
import functools
import json
import pathlib

_FILE = pathlib.Path(__file__).parent / 'static' / 'texts.json'


@functools.cache
def all_texts():
    """Return {key: text}. Scripts read the same file."""
    return json.loads(_FILE.read_text())


def text(key, **values):
    """Return the text of a key, with its {fields} replaced; the key itself if there is none."""
    found = all_texts().get(key, key)
    return found.format(**values) if values else found
