# SPDX-License-Identifier: Apache-2.0
"""What the owner of a lease reads in its history of servers and their images."""
from climate.domain import texts

# The headings of the entries.
DELETE = 'delete server'
KEEP = 'keep server'
SHELVE = 'shelve server'
SUSPEND = 'suspend server'
MOVE = 'move server'
IMAGE = 'image made'

# The longest part of a name that is told.
_LONGEST_NAME = 80
# How many servers a reason names; the history has all of them.
_IN_REASON = 10


def named(thing):
    """Return a Server or an Image in words: its name and its id."""
    name = thing.name if len(thing.name) <= _LONGEST_NAME else f'{thing.name[:_LONGEST_NAME]}…'
    return f'{name} ({thing.id})'


def servers(found, project_id, images=None):
    """Return what is told of Servers: {id: words}. Those of other projects are only counted.

    :param images: {server id: its Image}.
    """
    images, words = images or {}, {}
    for each in found:
        if each.project_id == project_id:
            image = images.get(each.id)
            words[each.id] = named(each) + (f', saved as image {named(image)}' if image else '')
    others = len(found) - len(words)
    if others:
        counted = f'{others} of other projects'
        words[counted] = counted
    return words


def images(made, project_id):
    """Return what is told of images that were made, {id: words}.

    :param made: pairs (Server, its Image).
    """
    return {image.id: f'{named(image)} of server {named(server)}'
            for server, image in made if server.project_id == project_id}


def reasons(some):
    """Return pairs (Server, why) in words for the reason of a lease, as one ``texts.Text``.

    :param some: `why` is a ``texts.Text``. Of many servers the first ones are named.
    """
    named_ones = texts.joined(*(why.within(f'server {server.name} ({server.id}): ', '.')
                                for server, why in some[:_IN_REASON]))
    more = len(some) - _IN_REASON
    return named_ones if more <= 0 else texts.joined(named_ones, texts.same(
        f'And of {more} more; the history names them.'))
