# SPDX-License-Identifier: Apache-2.0
"""Keystone trusts: made for a lease with its owner's token, deleted when no lease needs them."""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import leases
from climate.domain import reasons

LOG = log.getLogger(__name__)

# A trust is made just before its lease is written, so the lease of a young trust may still come.
_AGE = datetime.timedelta(minutes=10)


class Trusts:
    """Makes and drops the Keystone trusts of leases."""

    def __init__(self, core):
        self._core = core

    def entrust(self, context, lease):
        """Make a trust for a lease; return (the lease with the trust, the trust's id).

        If Keystone refuses and [keystone] trust_required is false, the lease has no trust and the
        id is None. The reason of the lease says so, and the service acts as itself.

        :raises TrustRefused: the caller cannot delegate, and a trust is required.
        :raises BadField: the caller cannot delegate, and a field of a reservation needs its owner.
        """
        try:
            trust = self._core.cloud.as_service().keystone.create_trust(context)
        except errors.TrustRefused as error:
            if self._core.conf.keystone.trust_required:
                raise
            refuse_without_owner(self._core, lease.reservations, reason=error.kwargs['reason'])
            LOG.warning('Lease %s has no trust, the service acts itself: %s', lease.id,
                        error.message)
            return dataclasses.replace(lease, reason=reasons.with_notice(lease, lease.reason)), None
        return dataclasses.replace(lease, trust_id=trust.id), trust.id

    def drop(self, trust_id):
        """Delete a trust whose lease was not written; if that fails, the reaper deletes it."""
        if trust_id is None:
            return
        try:
            self._core.cloud.as_service().keystone.delete_trust(trust_id)
        except errors.CloudError as error:
            LOG.warning('Trust %s is left to the reaper: %s', trust_id, error.message)


def refuse_without_owner(core, reservations, before=(), reason='its owner could not delegate.'):
    """Refuse reservations that need their owner, for a lease without a trust.

    :param before: {id: Reservation} of the reservations before a change; one that needed its owner
        before is not refused.
    :param reason: why there is no trust, in words.
    :raises BadField: the error names the field of the reservation.
    """
    for each in reservations:
        plugin = core.registry.plugin(each.resource_type)
        needed = plugin.needs_owner(each.request)
        if needed is not None and not (
                each.id in before and plugin.needs_owner(before[each.id].request)):
            field, why = needed
            raise errors.BadField(field=field, reason=(
                f'{why}. The lease has no Keystone trust for that: {reason} Leave the field out, '
                'or make a lease with a token that may delegate: from a password, not from an '
                'application credential.'))


class Reaper:
    """The periodic task that deletes trusts that have had no lease for ten minutes."""

    def __init__(self, core):
        self._core = core
        self._first_seen = {}

    def reap(self, now):
        """Look at all trusts once; return the ids of those that were deleted."""
        keystone = self._core.cloud.as_service().keystone
        known = {trust.id for trust in keystone.trusts()}
        with self._core.database.reader() as connection:
            orphans = known - leases.with_trusts(connection, known)
        self._first_seen = {trust_id: self._first_seen.get(trust_id, now)
                            for trust_id in orphans}
        dropped = [trust_id for trust_id, seen in self._first_seen.items() if now - seen >= _AGE]
        for trust_id in dropped:
            keystone.delete_trust(trust_id)
            LOG.info('Trust %s: no lease has it, dropped', trust_id)
        return dropped
