# SPDX-License-Identifier: Apache-2.0
"""The bodies of the calls of the enforcement service: leases with their resources."""
from climate.db import allocations as stored
from climate.db import resources
from climate.domain import enforcement


class Bodies:
    """Describes leases for the enforcement service, by the options of [enforcement]."""

    def __init__(self, core):
        self._core = core
        options = core.conf.enforcement
        self._rules = enforcement.ReportRules(frozenset(options.resource_types),
                                              tuple(options.resource_classes))

    def is_reported(self, lease):
        """Return whether a lease has reservations that are reported, and no exempt project."""
        return (lease.project_id not in self._core.conf.enforcement.exempt_projects
                and bool(self._rules.reported(lease)))

    def context(self, lease, user_id=None):
        """Return the part of a body that identifies the caller and the cloud.

        :param user_id: the user who makes the request; None: the owner of the lease.
        """
        options, login = self._core.conf.enforcement, self._core.conf.keystone
        # The options of the login are registered with its type only.
        own_auth_url = login.auth_url if 'auth_url' in login else None
        return {'user_id': user_id or lease.user_id, 'project_id': lease.project_id,
                'auth_url': options.auth_url or own_auth_url or '',
                'region_name': options.region_name or self._core.conf.region_name}

    def of_plan(self, connection, lease, chosen):
        """Return the body of a Lease with the Allocations that it will have."""
        by_id = {each.id: each for each in resources.enrolled(
            connection, sorted({each.resource_id for each in chosen}))}
        # A resource may have been withdrawn since the lease began.
        missing = sorted({each.resource_id for each in chosen} - by_id.keys())
        by_id |= {each.id: each for each in resources.with_ids(connection, missing)}
        fields = {each.id: self._core.registry.plugin(each.resource_type).fields(each)
                  for each in self._rules.reported(lease)}
        return enforcement.lease_body(lease, fields, chosen, by_id, self._rules)

    def of_lease(self, connection, lease, chosen=()):
        """Return the body of a Lease as it is stored.

        :param chosen: the Allocations that replace those of their reservations.
        """
        replaced = {each.reservation_id for each in chosen}
        kept = stored.of_reservations(connection, [
            each.id for each in lease.open_reservations if each.id not in replaced])
        return self.of_plan(connection, lease, [*chosen, *kept])
