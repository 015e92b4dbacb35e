# SPDX-License-Identifier: Apache-2.0
"""A driver for Magnum whose nodes are plain Nova servers of the user, without Kubernetes.

They are made with the token of the request. The label `reservation` of a cluster or a node group
becomes the scheduler hint of that name; the label `fail` makes the creation of a cluster fail with
that text.
"""
from magnum.common import clients
from magnum.common import exception
from magnum.drivers.common import driver
from magnum.objects import fields
import openstack

# Of a node, in the metadata of its server.
CLUSTER, GROUP = 'cluster_id', 'node_group_id'
STATUS = fields.ClusterStatus


class PlainServers(driver.Driver):
    """Give the node groups of a cluster their number of servers."""

    provides = [{'server_type': 'vm', 'os': 'ubuntu', 'coe': 'kubernetes'}]

    def create_cluster(self, context, cluster, cluster_create_timeout):
        if 'fail' in cluster.labels:
            raise exception.MagnumException(message=cluster.labels['fail'])
        for group in cluster.nodegroups:
            group.status = STATUS.CREATE_IN_PROGRESS
            group.save()
            Nodes(context, cluster).resize(group)

    def update_cluster(self, context, cluster, scale_manager=None, rollback=False):
        Nodes(context, cluster).resize(cluster.default_ng_worker)

    def resize_cluster(self, context, cluster, resize_manager, node_count, nodes_to_remove,
                       nodegroup=None):
        Nodes(context, cluster).resize(nodegroup or cluster.default_ng_worker,
                                       nodes_to_remove or ())

    def upgrade_cluster(self, context, cluster, cluster_template, max_batch_size, nodegroup,
                        scale_manager=None, rollback=False):
        cluster.cluster_template_id = cluster_template.uuid

    def delete_cluster(self, context, cluster):
        Nodes(context, cluster).delete()

    def create_nodegroup(self, context, cluster, nodegroup):
        Nodes(context, cluster).resize(nodegroup)

    def update_nodegroup(self, context, cluster, nodegroup):
        Nodes(context, cluster).resize(nodegroup)

    def delete_nodegroup(self, context, cluster, nodegroup):
        nodegroup.status = STATUS.DELETE_IN_PROGRESS
        nodegroup.save()
        Nodes(context, cluster).delete(nodegroup)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        """See how far the servers are; Magnum asks every 10 s while something is in progress."""
        nodes = Nodes(context, cluster)
        # What was still at work when a deletion began may have made more of them since.
        if cluster.status == STATUS.DELETE_IN_PROGRESS:
            nodes.delete()
        for group in cluster.nodegroups:
            if group.status == STATUS.DELETE_IN_PROGRESS:
                nodes.delete(group)
        there = nodes.all()
        if cluster.status == STATUS.DELETE_IN_PROGRESS:
            if not there:
                cluster.status = STATUS.DELETE_COMPLETE
                cluster.save()
            return
        done = [_is_done(group, of_group(there, group)) for group in cluster.nodegroups]
        verb = cluster.status.partition('_')[0]
        failed = [node for node in there if node.status == 'ERROR']
        if failed:
            cluster.status = f'{verb}_FAILED'
            cluster.status_reason = f'{failed[0].name}: {(failed[0].fault or {}).get("message")}'
        elif all(done):
            cluster.status = f'{verb}_COMPLETE'
            cluster.status_reason = None
            cluster.api_address = 'https://127.0.0.1:6443'
        cluster.save()

    def create_federation(self, context, federation):
        raise NotImplementedError

    def update_federation(self, context, federation):
        raise NotImplementedError

    def delete_federation(self, context, federation):
        raise NotImplementedError


def of_group(nodes, group):
    """Return the servers that are nodes of a group."""
    return [node for node in nodes if node.metadata.get(GROUP) == group.uuid]


def _is_done(group, nodes):
    """Note in a node group what its servers say; returns whether it is as it should be."""
    if group.status == STATUS.DELETE_IN_PROGRESS:
        if nodes:
            return False
        group.destroy()
        return True
    done = len(nodes) == group.node_count and {node.status for node in nodes} <= {'ACTIVE'}
    group.node_addresses = [address['addr'] for node in nodes
                            for found in node.addresses.values() for address in found]
    if done:
        group.status = group.status.replace('IN_PROGRESS', 'COMPLETE')
    group.save()
    return done


class Nodes:
    """The servers of one cluster."""

    def __init__(self, context, cluster):
        self._context = context
        self._cluster = cluster
        session = clients.OpenStackClients(context).keystone().session
        # From here on a server may be without a network.
        self._cloud = openstack.connection.Connection(
            session=session, region_name='RegionOne', compute_default_microversion='2.37')

    def all(self):
        """Every server of the cluster; Magnum looks as an administrator of another project."""
        found = self._cloud.compute.servers(all_projects=bool(self._context.is_admin))
        return [each for each in found if each.metadata.get(CLUSTER) == self._cluster.uuid]

    def resize(self, group, unwanted=()):
        """Make and delete servers until there are as many as the node group has nodes.

        :param unwanted: names or ids of those that go first; else the youngest do.
        """
        there = of_group(self.all(), group)
        there.sort(key=lambda each: (bool({each.id, each.name} & set(unwanted)), _number(each)))
        for node in there[group.node_count:]:
            self._cloud.compute.delete_server(node)
        first = max(map(_number, there), default=-1) + 1
        for number in range(first, first + group.node_count - len(there)):
            self._create(group, number)

    def delete(self, group=None):
        """Delete the servers of one node group, or all."""
        for node in self.all() if group is None else of_group(self.all(), group):
            self._cloud.compute.delete_server(node)

    def _create(self, group, number):
        template = self._cluster.cluster_template
        labels = (self._cluster.labels or {}) | (group.labels or {})
        hints = {'reservation': labels['reservation']} if 'reservation' in labels else {}
        network = self._cluster.fixed_network or template.fixed_network
        image = self._cloud.image.find_image(group.image_id or template.image_id,
                                             ignore_missing=False)
        flavor = self._cloud.compute.find_flavor(group.flavor_id, ignore_missing=False)
        self._cloud.compute.create_server(
            name=f'{self._cluster.name}-{group.name}-{number}', image_id=image.id,
            flavor_id=flavor.id, networks=[{'uuid': network}] if network else 'none',
            metadata={CLUSTER: self._cluster.uuid, GROUP: group.uuid},
            **({'scheduler_hints': hints} if hints else {}))


def _number(node):
    return int(node.name.rpartition('-')[2])
