# SPDX-License-Identifier: Apache-2.0
"""The only place that chooses which version of a text a caller reads: the owner's or operators'.

Reasons of leases, lines of their history and errors have both versions. The command-line client
shows what REST answers.
"""
from climate.api import error_names
from climate.policies import leases as rules


def may_read(policy, caller):
    """Whether a caller reads the operators' versions; nobody does before the caller is known."""
    return caller is not None and policy.allows(caller, rules.OPERATOR_TEXTS)


def chosen(text, operator):
    """Return one version of a ``texts.Text``, or None if there is no text.

    :param operator: what `may_read` returned.
    """
    if text is None:
        return None
    return text.operator if operator else text.owner


def of_error(error, operator):
    """Return the (message, details) of an error that a caller reads."""
    if operator:
        return error_names.message(error), error_names.details(error)
    return error_names.owner_message(error), error_names.owner_details(error)
