# SPDX-License-Identifier: Apache-2.0
"""The features of Climate that meet in Nova, each as a story that another one may interrupt.

compute1 and compute2 are enrolled, compute3 is too unless it is lent, and compute4 is open to all.
The first two are in the zone NEAR, the others in the zone FAR.
"""
import functools

import scene as scenes

NEAR, FAR = 'near', 'far'
# Machines that were asleep need two minutes.
PATIENCE = 300


class Feature:
    """One use of a feature: it is prepared, begins, holds while others come and go, and ends.

    :ivar lease_id: of its lease; None if it has none.
    """

    def __init__(self, scene, folder):
        self.scene, self.folder = scene, folder
        self.admin = scene.people['admin']
        self.lent, self.open = scene.settings.compute_hosts[2:4]
        self.lease_id = None

    def prepare(self):
        """Do what an administrator does before."""

    def begin(self, other):
        """Start to use it.

        :param other: the Feature that is in use beside it, or comes later.
        """
        raise NotImplementedError

    def holds(self):
        """Assert that the feature is there."""
        raise NotImplementedError

    def end(self):
        """Assert that nothing is left of its lease after the end."""
        leases = self.scene.climate('admin').leases
        if leases.get(self.lease_id)['status'] != 'terminated':
            leases.end(self.lease_id)
        self.scene.wait(self.lease_id, 'terminated', PATIENCE)

    @functools.cached_property
    def hosts(self):
        """The hosts as an administrator of Climate sees them."""
        return self.scene.climate('admin').hosts

    def lease(self, *reservations, **more):
        """Create a lease of demo; return it once it is active."""
        made = self.scene.climate().leases.create(
            self.scene.name(), duration='30m', reservations=list(reservations), **more)
        self.scene.remember(made['id'])
        self.lease_id = made['id']
        return self.scene.wait(made['id'], 'active', PATIENCE)

    def server(self, server_id):
        """A running server, which has no lease by default."""
        found = self.admin.compute.get_server(server_id)
        assert found.status == 'ACTIVE', found.fault
        assert 'climate:lease_id' not in found.metadata
        return found

    def gone(self, server_id):
        """Wait until Nova shows a server no more, which has the status DELETED for a moment."""
        scenes.until(lambda: not self.scene.exists(server_id), f'server {server_id} to be gone')
