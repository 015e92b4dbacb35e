# SPDX-License-Identifier: Apache-2.0
"""The metadata by which the aggregate of a sub-lease names the lease that has the hosts, too."""

#: The prefix of the metadata keys with the ids by which servers name the parent. The scheduler
#: filter has the same prefix: on these hosts, it refuses new servers of the parent.
PARENT = 'climate:parent:'
#: The metadata key for the project of the parent.
PROJECT = 'climate:parent_project'
_SET = 'climate:parent'


def of_lease(lease):
    """Return the metadata of the aggregate of a sub-lease; {} for other leases."""
    parent = lease.parent
    return {} if parent is None else {
        PROJECT: parent.project_id, **{PARENT + name: _SET for name in sorted(parent.names)}}


def names(aggregate):
    """Return the ids by which servers name the parent; empty if it is no sub-lease's Aggregate."""
    return {key.removeprefix(PARENT) for key in aggregate.metadata if key.startswith(PARENT)}


def sub_leased_hosts(all_aggregates, parent_names):
    """Return the service hosts that sub-leases of a lease have in the cloud.

    :param parent_names: the ids of the lease and of its reservations.
    """
    return {host for aggregate in all_aggregates if not names(aggregate).isdisjoint(parent_names)
            for host in aggregate.hosts}
