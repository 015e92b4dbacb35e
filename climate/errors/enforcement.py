# SPDX-License-Identifier: Apache-2.0
"""Errors of the service that allows leases."""
from climate.errors import base
from climate.errors import services


class EnforcementRefused(base.Forbidden):
    """The enforcement service refuses a lease. ``details``: ``reason``, its own text."""

    code = 'enforcement_refused'
    template = 'The enforcement service of this cloud refuses the lease: {reason}'


class EnforcementUnavailable(base.ClimateError):
    """The enforcement service said neither yes nor no. ``details``: ``reason``."""

    status = 503
    code = 'enforcement_unavailable'
    template = ('The enforcement service of this cloud, which must allow the lease, gives no '
                'answer: {reason} Try again later.')
    owner_template = ('The enforcement service of this cloud, which must allow the lease, gives no '
                      'answer now. Try again later.' + base.ASK_OPERATOR)
    operators_details = frozenset({'reason'})


class EnforcementBusy(services.Overloaded):
    code = 'enforcement_busy'
    template = ('{most} requests wait for the enforcement service of this cloud, the maximum: try '
                'again in {retry_after} seconds.')
