# SPDX-License-Identifier: Apache-2.0
"""The field for criteria that requests of several plugins have."""
import json

#: JSON schema of a field with criteria.
SCHEMA = {
    'description': 'Criteria, as a list or as its JSON text, such as [">=", "$vcpus", "16"].',
    'type': ['string', 'array', 'null'], 'format': 'criteria',
}


def as_text(criteria):
    """Return criteria as they are stored: JSON text, empty for none."""
    if criteria is None:
        return ''
    return criteria if isinstance(criteria, str) else json.dumps(criteria)
