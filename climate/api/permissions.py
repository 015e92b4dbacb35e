# SPDX-License-Identifier: Apache-2.0
"""The permissions of callers for single fields of requests and answers."""
import dataclasses

from climate import errors
from climate.api import owner_or_operator_text
from climate.domain import acquire
from climate.policies import base as base_rules
from climate.policies import leases as rules


def authorize_acquisition(policy, caller, acquisition):
    """Check that the caller may acquire a lease in the requested way.

    :param acquisition: an Acquire, or None for a lease that is immediate or scheduled.
    :raises Forbidden: policy does not allow it; the error names the rule.
    :raises BadField: the request would wait without a limit, which policy does not allow.
    """
    if acquisition is None:
        return
    if acquisition.type == acquire.BEST_EFFORT:
        policy.authorize(caller, rules.BEST_EFFORT)
        if acquisition.strategy is not None:
            policy.authorize(caller, rules.CHOOSE_STRATEGY)
    if acquisition.type != acquire.WAIT:
        return
    if acquisition.priority:
        policy.authorize(caller, rules.PRIORITIZE)
    if acquisition.not_after is None and not policy.allows(caller, rules.WAIT_WITHOUT_LIMIT):
        raise errors.BadField(field='acquire.not_after', reason=(
            'give a moment, such as "2030-05-01 08:00": your roles do not allow a request to '
            'wait without a limit.'))


def visible_refusal(policy, caller, error):
    """Remove hosts and servers of other projects from a NotEnough, unless the caller may see them.

    :returns: the same error if it names no hosts and servers, or if the caller may see them; else a
        new NotEnough, which names only servers of the caller's project.
    """
    if 'reasons' not in error.kwargs or policy.allows(caller, rules.GET_MOVES):
        return error
    return errors.NotEnough(error.owner_message, **error.owner_details)


def may_use_hidden_criteria(policy, caller, lenient):
    """Return whether the caller's criteria may name hosts and use private properties.

    A separate rule, which allows everybody by default, applies to REST 1.0. Operators can restrict
    this rule if their clients do not need it.
    """
    return policy.allows(caller, rules.HIDDEN_CRITERIA_1_0 if lenient else rules.HIDDEN_CRITERIA)


def visible_resources(parts, caller, pool, resources):
    """Return Resources without the fields that the caller may not read.

    Only administrators see private properties. Only operators see the reasons of health and of
    maintenance.

    :param parts: the ``controllers.base.Parts`` of the API process.
    """
    if any(resource.properties for resource in resources) and not parts.policy.allows(
            caller, base_rules.ADMIN_RULE):
        hidden = {prop.name for prop in parts.manager.list_properties(caller, pool)
                  if prop.private}
        resources = [_without(resource, hidden) for resource in resources]
    if owner_or_operator_text.is_operator(parts.policy, caller):
        return resources
    return [_without_reasons(resource) for resource in resources]


def _without(resource, hidden):
    return dataclasses.replace(resource, properties={
        name: text for name, text in resource.properties.items() if name not in hidden})


def _without_reasons(resource):
    verdict = resource.verdict and dataclasses.replace(resource.verdict, reason=None)
    return dataclasses.replace(resource, verdict=verdict, maintenances=tuple(
        dataclasses.replace(window, reason='') for window in resource.maintenances))
