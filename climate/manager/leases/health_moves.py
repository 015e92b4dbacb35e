# SPDX-License-Identifier: Apache-2.0
"""Move leases that start soon off resources that are out of service."""
from climate.db import health as stored
from climate.db import resources
from climate.domain import health
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.health import blocking
from climate.manager.leases import resource_moves

#: The name of the history entry and notification for a lease that cannot be moved.
NOTIFICATION = 'resource_sick'


class HealthMoves:
    """Moves leases off resources that are out of service, in the order of their starts."""

    def __init__(self, core):
        self._core = core
        self._moves = resource_moves.ResourceMoves(core)

    def move_soon(self, now):
        """Move the leases that start within [health] heal_hours; return the ids of moved leases.

        If no other resource fits a lease, notify its owner at once. Later passes, and the start of
        the lease, try again.
        """
        with self._core.database.reader() as connection:
            sick = stored.not_well(connection)
            lost_by_lease = stored.future_leases(connection, sick, now, now + blocking.ahead(
                self._core.conf)) if sick else {}
            by_id = {each.id: each for each in resources.with_ids(connection, {
                key for ids in lost_by_lease.values() for key in ids})} if lost_by_lease else {}
            details = stored.find(connection, by_id)
        moved = []
        for lease_id, ids in lost_by_lease.items():
            with cores.isolated('Lease %s', lease_id):
                lost = [by_id[key] for key in sorted(ids)]
                cause = resource_moves.MoveCause(
                    frozenset(ids), frozenset(sick), _because(lost), NOTIFICATION,
                    since=_since([details[each.id] for each in lost], now))
                if self._moves.move(lease_id, cause, now):
                    moved.append(lease_id)
        if moved:
            blocking.prolong(self._core, now)
            self._core.notify()
        return moved


def _because(lost):
    """Return the Text of the reason for which a lease leaves the Resources `lost`."""
    names = ', '.join(f'{each.name} ({_why(each)})' for each in lost)
    return texts.Text(f'{len(lost)} of its resources cannot be used, and the lease starts soon.',
                      f'It cannot use {names}, and starts soon.')


def _why(resource):
    if resource.health_state == health.WELL:
        return 'out of use'
    return f'{resource.health_state}: {resource.health_reason}'


def _since(details, now):
    """Return the last moment at which a resource went out of service; None: not known."""
    verdicts = [each.verdict(now) for each in details]
    return max((verdict.since for verdict in verdicts
                if verdict.state != health.WELL and verdict.since), default=None)
