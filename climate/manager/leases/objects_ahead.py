# SPDX-License-Identifier: Apache-2.0
"""Objects in the cloud that plugins create for future leases before their starts."""
from climate import errors
from climate.manager import lease_cloud
from climate.manager.booking import allocated_resources


def create(core, leases):
    """Create the objects of leases that have not started, as their events ``stage_lease`` do.

    The database stays as it is. The caller ensures that no manager runs meanwhile.

    :returns: ({reservation id: its binding with the objects}, {id of a lease: the ClimateError}).
    :raises CloudUnreachable: a service does not answer.
    """
    bindings, failed = {}, {}
    for lease in leases:
        try:
            bindings |= _create(core, lease)
        except errors.CloudUnreachable:
            raise
        except errors.ClimateError as error:
            failed[lease.id] = error
    return bindings, failed


def _create(core, lease):
    cloud = lease_cloud.ActionCloud(core.cloud, lease, registry=core.registry)
    resources = allocated_resources.AllocatedResources(core).of(lease.open_reservations)
    plugins = {each.id: core.registry.plugin(each.resource_type)
               for each in lease.open_reservations}
    return {each.id: plugins[each.id].stage(cloud, lease, each, resources[each.id])
            for each in lease.open_reservations if plugins[each.id].stages(each.request)}
