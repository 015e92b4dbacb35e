# SPDX-License-Identifier: Apache-2.0
"""Entries about servers and images for the history of a lease, which its owner reads."""
from climate.domain import texts

# The headings of the entries.
DELETE = 'delete server'
KEEP = 'keep server'
SHELVE = 'shelve server'
SUSPEND = 'suspend server'
MOVE = 'move server'
IMAGE = 'image made'

_LONGEST_NAME = 80
# The number of servers that a reason names; the history has all of them.
_IN_REASON = 10


def named(thing):
    """Return the name and the id of a Server or an Image, as text."""
    name = thing.name if len(thing.name) <= _LONGEST_NAME else f'{thing.name[:_LONGEST_NAME]}…'
    return f'{name} ({thing.id})'


def servers(listed, project_id, images=None):
    """Return {id: words} of Servers. Servers of other projects are only counted.

    :param images: {server id: its Image}.
    """
    images, words = images or {}, {}
    for server in listed:
        if server.project_id == project_id:
            image = images.get(server.id)
            words[server.id] = named(server) + (f', saved as image {named(image)}' if image else '')
    others = len(listed) - len(words)
    if others:
        counted = f'{others} of other projects'
        words[counted] = counted
    return words


def images(pairs, project_id):
    """Return {id: words} of the new images of servers of the project.

    :param pairs: pairs (Server, its Image).
    """
    return {image.id: f'{named(image)} of server {named(server)}'
            for server, image in pairs if server.project_id == project_id}


def reasons(pairs):
    """Return one ``texts.Text`` with the reasons of several servers.

    Of many servers, only the first ones are named.

    :param pairs: pairs (Server, its reason as a ``texts.Text``).
    """
    first = texts.joined(*(why.within(f'server {server.name} ({server.id}): ', '.')
                           for server, why in pairs[:_IN_REASON]))
    omitted = len(pairs) - _IN_REASON
    return first if omitted <= 0 else texts.joined(first, texts.same(
        f'And of {omitted} more; the history names them.'))
