# SPDX-License-Identifier: Apache-2.0
"""The marks that name a reservation on what was made for it in Neutron.

Its owner may change them, and may write them on other things: they are no proof.
"""

# What stands before the id of the reservation, in a tag and in a description.
_TAG, _DESCRIPTION = 'reservation:', 'Climate reservation '


def tag(reservation_id):
    """Return the tag of a reservation."""
    return f'{_TAG}{reservation_id}'


def description(reservation_id):
    """Return the description, which is there from the first call on; tags need a second one."""
    return f'{_DESCRIPTION}{reservation_id}'


def of(thing):
    """Return the ids of the reservations that are named on a thing, as a set.

    :param thing: a FloatingIP, SegmentNetwork or Router.
    """
    texts = (*getattr(thing, 'tags', ()), thing.description)
    return {each.removeprefix(mark) for each in texts for mark in (_TAG, _DESCRIPTION)
            if each.startswith(mark)}
