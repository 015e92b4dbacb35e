# SPDX-License-Identifier: Apache-2.0
"""The language of criteria in Blazar: comparisons with texts, and one conjunction of them."""
import json

_OPERATORS = ('==', '=', '!=', '>=', '<=', '>', '<')


def expressed(text):
    """Return criteria of Climate in the language of Blazar, as JSON text.

    Criteria that Blazar can read stay as they are. None: Blazar cannot express them.

    :param text: the JSON text of valid criteria, or an empty text.
    """
    criteria = json.loads(text) if text else []
    if not criteria:
        return ''
    is_conjunction = criteria[0] == 'and'
    leaves = [_leaf(part) for part in (criteria[1:] if is_conjunction else [criteria])]
    if None in leaves:
        return None
    found = ['and', *leaves] if is_conjunction else leaves[0]
    return text if found == criteria else json.dumps(found)


def _leaf(criterion):
    """Return a comparison with a text, or None if Blazar has no such comparison."""
    if not (isinstance(criterion, list) and len(criterion) == 3 and criterion[0] in _OPERATORS):
        return None
    operator, name, value = criterion
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == '':
        return None
    # Blazar has no traits and no resource classes in criteria.
    is_named = isinstance(name, str) and name.startswith('$') and ':' not in name
    return [operator, name, str(value)] if is_named and len(name) > 1 else None
