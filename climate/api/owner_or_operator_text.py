# SPDX-License-Identifier: Apache-2.0
"""The choice between texts for owners and texts for operators.

Reasons of leases, entries of their history and errors have two versions. This module chooses the
version that a caller reads.
"""
from climate.api import error_names
from climate.policies import leases as rules


def is_operator(policy, caller):
    """Return whether a caller reads the operators' versions; False while the caller is unknown."""
    return caller is not None and policy.allows(caller, rules.OPERATOR_TEXTS)


def of(versions, operator):
    """Return one version of a ``texts.Text``, or None if there is no text.

    :param operator: the result of `is_operator`.
    """
    if versions is None:
        return None
    return versions.operator if operator else versions.owner


def of_error(error, operator):
    """Return the (message, details) of an error that a caller reads."""
    if operator:
        return error_names.message(error), error_names.details(error)
    return error_names.owner_message(error), error_names.owner_details(error)
