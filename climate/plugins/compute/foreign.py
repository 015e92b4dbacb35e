# SPDX-License-Identifier: Apache-2.0
"""Foreign servers: those on enrolled hosts that Nova's scheduler could not have put there.

An administrator can force a server onto a host past the scheduler's filters. A scheduler that lacks
Climate's filter puts anybody's servers there.
"""
from climate.domain import audit
from climate.plugins.compute.servers import leased

# An extra spec by which a flavor belongs to a reservation, so that its servers may be on a host.
_FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'


def on_leased(servers, project_id, aggregate):
    """Return the Servers of projects that may not use the aggregate of a reservation.

    :param project_id: the project of the lease. The aggregate may be shared with others, as the
        filter has it: their ids are keys of its metadata.
    """
    return [each for each in servers
            if each.project_id != project_id and not aggregate.metadata.get(each.project_id)]


def on_pooled(servers):
    """Return the Servers on hosts that are leased to nobody as a whole and use no reservation.

    A server whose flavor Nova does not show counts as one with a reservation.
    """
    return [each for each in servers
            if each.flavor is not None and _FLAVOR_KEY not in each.flavor.extra_specs
            and not {leased.LEASE_KEY, leased.RESERVATION_KEY} & each.metadata.keys()]


def drifts(servers, where):
    """Return foreign Servers as Drifts.

    :param where: the place in words, such as 'the freepool'.
    """
    return [audit.Drift('foreign server', f'server {each.id}', (
        f'of project {each.project_id} on host {each.host} of {where}, which is not for it; was it '
        'forced there, or does nova-scheduler lack the filter of Climate?')) for each in servers]
