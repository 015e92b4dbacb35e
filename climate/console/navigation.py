# SPDX-License-Identifier: Apache-2.0
"""The pages in the bar above each page."""
import dataclasses

import flask

from climate.console import rest

_ALL = (('timeline.show', 'nav.timeline'), ('leases.several', 'nav.leases'),
        ('capacity.show', 'nav.capacity'), ('operator.show', 'nav.operator'))
_OF_ADMINS = ('operator.show',)


@dataclasses.dataclass(frozen=True)
class Item:
    """A link to a page.

    :ivar text: the key of its text.
    :ivar current: whether the page, or one below it, is being shown.
    """

    path: str
    text: str
    current: bool


def items():
    """Return the Items of the user who is logged in."""
    admin, here = rest.is_admin(), flask.request.blueprint
    return [Item(flask.url_for(endpoint), text, endpoint.partition('.')[0] == here)
            for endpoint, text in _ALL if admin or endpoint not in _OF_ADMINS]
