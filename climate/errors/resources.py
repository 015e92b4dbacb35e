# SPDX-License-Identifier: Apache-2.0
"""Errors of pools, resources, properties and maintenances."""
from climate.errors import base


class UnknownPool(base.NotFound):
    code = 'unknown_pool'
    template = 'There is no pool "{pool}"; enabled are: {enabled}.'


class ResourceNotFound(base.BeginsWithNoun, base.NotFound):
    """``details``: ``pool``, ``resource`` (its name or id)."""

    code = 'resource_not_found'
    template = '{pool} {resource} was not found.'


class MaintenanceNotFound(base.NotFound):
    code = 'maintenance_not_found'
    template = ('There is no maintenance {maintenance_id}, or it is over; '
                '"climate maintenance list" lists the existing ones.')


class PropertyNotFound(base.NotFound):
    code = 'property_not_found'
    template = 'No {pool} has a property "{name}".'


class ResourceInUse(base.BeginsWithNoun, base.Conflict):
    """``details``: ``pool``, ``resource``, ``reason``."""

    code = 'resource_in_use'
    template = '{pool} {resource} cannot be changed in this way: {reason}'


class ResourceKnown(base.BeginsWithNoun, base.Conflict):
    """``details``: ``pool``, ``resource``, ``resource_id``."""

    code = 'resource_known'
    template = '{pool} {resource} is enrolled already, as {resource_id}.'


class ResourceAmbiguous(base.Conflict):
    """``details``: ``pool``, ``resource``."""

    code = 'resource_ambiguous'
    template = ('More than one {pool} is called {resource}: resources that can be leased must have '
                'unique names.')


class PropertyInUse(base.Conflict):
    code = 'property_in_use'
    template = ('Property "{name}" of {pool} {resource} is a criterion of reservation '
                '{reservation_id}: change it after the end of that lease.')
