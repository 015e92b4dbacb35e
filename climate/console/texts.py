# SPDX-License-Identifier: Apache-2.0
"""The catalogue of all English texts of the console, for pages and scripts alike."""
import functools
import json
import pathlib

import markupsafe

from climate.client import times

_FILE = pathlib.Path(__file__).parent / 'static' / 'texts.json'


@functools.cache
def all_texts():
    """Return {key: text}. Scripts read the same file."""
    return json.loads(_FILE.read_text(encoding='utf-8'))


def text(key, **values):
    """Return the text of a key, with its {fields} replaced; the key itself if it has no text."""
    template = all_texts().get(key, key)
    return template.format(**values) if values else template


def with_prefix(prefix):
    """Return {rest of the key: text} of the texts whose keys begin with a prefix."""
    return {key.removeprefix(prefix): value for key, value in all_texts().items()
            if key.startswith(prefix)}


def markup(key, **values):
    """Return the text of a key for a page; values that are no markup are escaped."""
    template = markupsafe.escape(all_texts().get(key, key))
    return template.format(**values) if values else template


def moment(iso):
    """Return a moment for a page, in UTC; scripts write it in the zone of the user. '' for None."""
    return markupsafe.Markup('<time datetime="{}">{}</time>').format(
        iso, times.for_people(iso)) if iso else ''


def number(value):
    """Return a number for people, with at most two digits after the point; '' for None."""
    return '' if value is None else f'{value:,.2f}'.rstrip('0').rstrip('.')


def event(what):
    """Return the words of an entry of a history; unknown ones stay as they are."""
    return all_texts().get(f'event.{what}', what.replace('_', ' '))
