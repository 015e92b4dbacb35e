# SPDX-License-Identifier: Apache-2.0
"""Render the objects that a dry run says would be lost."""
from climate.api import owner_or_operator_text
from climate.api import times


def render(policy, caller, losses):
    """Render Losses.

    Only operators read the names of resources, and which objects of other projects would be lost.

    :param losses: None: a manager of an earlier release answered, which does not know them.
    """
    if losses is None:
        return None
    operator = owner_or_operator_text.is_operator(policy, caller)
    return [_shown(loss, operator, operator or loss.project_id == caller.project_id)
            for loss in losses]


def _shown(loss, operator, named):
    return {
        'kind': loss.kind, 'id': loss.id if named else None, 'name': loss.name if named else None,
        'project_id': loss.project_id if named else None, 'fate': loss.fate, 'saved': loss.saved,
        'resource': loss.resource if operator else None, 'at': times.shown(loss.at)}
