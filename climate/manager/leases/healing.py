# SPDX-License-Identifier: Apache-2.0
"""Give leases that start soon other resources for those that are not well."""
from climate.db import health as stored
from climate.db import resources
from climate.domain import health
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.health import blocking
from climate.manager.leases import moves

#: What the history and the notification are called if nothing else fits.
TOLD = 'resource_sick'


class Healing:
    """Moves leases away from what is not well, those that start first before others."""

    def __init__(self, core):
        self._core = core
        self._moves = moves.Moves(core)

    def heal(self, now):
        """Move the leases that start within [health] heal_hours; return the ids of those moved.

        The owner of a lease for which nothing else fits is told at once. It is tried again at each
        look, and at the start.
        """
        with self._core.database.reader() as connection:
            bad = stored.not_well(connection)
            found = stored.future_leases(connection, bad, now, now + blocking.ahead(
                self._core.conf)) if bad else {}
            known = {each.id: each for each in resources.with_ids(
                connection, {key for ids in found.values() for key in ids})} if found else {}
            details = stored.find(connection, known)
        moved = []
        for lease_id, ids in found.items():
            with cores.isolated('Lease %s', lease_id):
                lost = [known[key] for key in sorted(ids)]
                occasion = moves.Occasion(
                    frozenset(ids), frozenset(bad), _because(lost), TOLD,
                    since=_since([details[each.id] for each in lost], now))
                if self._moves.move(lease_id, occasion, now):
                    moved.append(lease_id)
        if moved:
            blocking.prolong(self._core, now)
            self._core.notify()
        return moved


def _because(lost):
    """Return in words what is wrong with some Resources."""
    said = ', '.join(f'{each.name} ({_why(each)})' for each in lost)
    return texts.Text(f'{len(lost)} of its resources cannot be used, and the lease starts soon.',
                      f'It cannot use {said}, and starts soon.')


def _why(resource):
    if resource.health_state == health.WELL:
        return 'out of use'
    return f'{resource.health_state}: {resource.health_reason}'


def _since(details, now):
    """Return since when the last of them is not well; None: that is not known."""
    known = [each.verdict(now).since for each in details
             if each.verdict(now).state != health.WELL]
    return max((each for each in known if each is not None), default=None)
