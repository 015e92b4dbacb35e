# SPDX-License-Identifier: Apache-2.0
"""The steps of people who remove objects of leases from the cloud, behind Climate's back."""
import re

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_bills
from support import cloud_removals

from climate.domain import lifecycle

#: The tables of the simulated cloud whose rows name the reservation, or the trust, of a lease.
MARKED = ('aggregates', 'flavors', 'flavor_access', 'server_groups', 'resource_classes', 'networks',
          'routers', 'floating_ips', 'volumes', 'volume_types', 'volume_type_access', 'stacks',
          'clusters', 'trusts')
# The servers that a service deletes with its object.
_SERVERS_OF = {
    'stacks': 'SELECT server_id FROM stack_parts JOIN stacks ON stacks.id = stack_id '
              'WHERE stacks.rowid = ?',
    'clusters': 'SELECT server_id FROM cluster_nodes JOIN node_groups ON node_groups.id = group_id '
                'JOIN clusters ON clusters.id = cluster_id WHERE clusters.rowid = ?'}
_ID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def objects_of(cloud, marks, kept=()):
    """Return the sorted pairs (table, rowid) of what the cloud has with one of these marks.

    :param marks: ids of reservations and trusts.
    :param kept: ids of objects to leave out.
    """
    return sorted(key for key, row in cloud_removals.rows(cloud, MARKED).items()
                  if row.get('id') not in kept and not marks.isdisjoint(_ids(row)))


def _ids(row):
    text = ' '.join(str(value) for value in row.values())
    # A resource class is named by its reservation in capitals, with underscores.
    return {*_ID.findall(text), *_ID.findall(text.lower().replace('_', '-'))}


class Gone(model_bills.Bills):
    """The steps of people who remove objects of leases.

    In calm runs, too, each lease comes to its end without an operator, and the audit finds nothing
    afterwards.
    """

    @stateful.precondition(lambda self: self._in_the_cloud())
    @base.rule(which=base.WHICH, place=st.integers(0, 5), everything=st.booleans())
    def somebody_removes_objects_of_a_lease(self, which, place, everything):
        """One of them, or all."""
        lease = self.pick(self._in_the_cloud(), which)
        marks = {each.id for each in self.recorded.reservations.values()
                 if each.lease_id == lease.id} | {lease.trust_id} - {None}
        leased = {each.leased_id for each in self.recorded.reservations.values()}
        found = objects_of(self.world.cloud, marks, {*self.own, *leased})
        if not found:
            return
        # What is gone may be missing where a start, a change or a boot needs it.
        self.tampered = self.services_touched = True
        for table, rowid in found if everything else [self.pick(found, place)]:
            self._remove(table, rowid)

    def _remove(self, table, rowid):
        if table in _SERVERS_OF:
            self._delete_servers(table, rowid)
        self.tally[f'{table} removed'] += len(
            cloud_removals.remove(self.world.cloud, [(table, rowid)]))

    def _delete_servers(self, table, rowid):
        """Delete the servers of a stack or a cluster, as its service does."""
        with self.world.cloud.state() as connection:
            ids = {row['server_id'] for row in connection.execute(_SERVERS_OF[table], (rowid,))}
        for server in self.world.cloud.servers():
            if server.id in ids:
                self.forget_server(server.id)

    def _in_the_cloud(self):
        """Return the rows of the leases that may have something in the cloud."""
        return [each for each in self.live() if each.state != lifecycle.ACQUIRING]
