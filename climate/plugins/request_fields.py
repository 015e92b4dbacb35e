# SPDX-License-Identifier: Apache-2.0
"""Checks of request fields that several plugins share."""
import json
import re

from climate import errors
from climate.domain import lifecycle

#: JSON schema of a field with criteria.
CRITERIA = {
    'description': 'Criteria, as a list or as its JSON text, such as [">=", "$vcpus", "16"].',
    'type': ['string', 'array', 'null'], 'format': 'criteria',
}
# The id of an object as OpenStack writes it. Other texts could be a part of a URL, or another
# spelling of the same id.
_UUID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def criteria_text(criteria):
    """Return criteria as they are stored: as JSON text, which is empty if there are none."""
    if criteria is None:
        return ''
    return criteria if isinstance(criteria, str) else json.dumps(criteria)


def existing(words, target_id, read, is_there):
    """Return the existing object that the field `resource_id` names.

    :param words: the words of the command ``openstack`` for such objects, such as 'volume'.
    :param read: callable(id) that returns the object, or None.
    :param is_there: callable(object) that returns whether the object exists in the project.
    :raises BadField: the project has no such object.
    """
    target = read(target_id) if _UUID.fullmatch(target_id) else None
    if target is None or not is_there(target):
        raise errors.BadField(field='resource_id', reason=(
            f'there is no {words.split()[-1]} "{target_id}" in this project; "openstack {words} '
            'list" has the ids.'))
    return target


def refuse_while_it_runs(before, request, names):
    """Refuse to change these fields of a reservation that is not pending any more.

    :raises Conflict: the value of one of the fields would change.
    """
    if before is None or before.state == lifecycle.RESERVATION_PENDING:
        return
    changed = [name for name in names if request.get(name) != before.request.get(name)]
    if changed:
        raise errors.Conflict(reason=(
            f'{", ".join(changed)}: cannot change while the reservation is {before.state}. '
            'Only the amount and the dates can; for other changes make another lease.'))
