# SPDX-License-Identifier: Apache-2.0
"""The parts of resources that a caller may read, beyond what policy says of the route."""
import dataclasses

from climate.api import operator_texts
from climate.policies import base as rules


def of(parts, caller, pool, found):
    """Return Resources without what the caller may not read.

    Only administrators see private properties. Reasons of health and of maintenance are texts of
    operators.

    :param parts: the ``controllers.base.Parts`` of the API process.
    """
    if any(each.properties for each in found) and not parts.policy.allows(
            caller, rules.ADMIN_RULE):
        hidden = {each.name for each in parts.manager.list_properties(caller, pool)
                  if each.private}
        found = [_without(each, hidden) for each in found]
    if operator_texts.may_read(parts.policy, caller):
        return found
    return [_without_reasons(each) for each in found]


def _without(resource, hidden):
    return dataclasses.replace(resource, properties={
        name: text for name, text in resource.properties.items() if name not in hidden})


def _without_reasons(resource):
    verdict = resource.verdict and dataclasses.replace(resource.verdict, reason=None)
    return dataclasses.replace(resource, verdict=verdict, maintenances=tuple(
        dataclasses.replace(each, reason='') for each in resource.maintenances))
