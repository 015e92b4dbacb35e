# SPDX-License-Identifier: Apache-2.0
"""Keystone trusts: made for a lease with its owner's token, deleted when no lease needs them.

Other services may log in to Keystone as the same user, such as Climate in another region, or an
earlier service. Their trusts look the same. Therefore a record is written before a trust is
created, and only recorded trusts are ever deleted. The record has the moment at which the trust
expires. No other trust expires at exactly that moment, so the trust is found even if the answer of
Keystone was lost. If the record is lost too, the trust expires by itself.
"""
import dataclasses
import datetime
import secrets

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import trusts
from climate.domain import acquisition_reasons
from climate.domain import records
from climate.domain import texts
from climate.manager import core as cores

LOG = log.getLogger(__name__)

# A trust is made just before its lease is written, so a young trust may still get its lease.
_AGE = datetime.timedelta(minutes=10)
# A trust cannot be prolonged, so it lasts longer than its lease: by five years and a random part of
# another one.
_BEYOND = datetime.timedelta(days=5 * 365)
_RANDOM = datetime.timedelta(days=365)
_LATEST = datetime.datetime(9990, 1, 1, tzinfo=datetime.UTC)
_NO_DELEGATION = 'its owner could not delegate.'


class Trusts:
    """Makes and drops the Keystone trusts of leases."""

    def __init__(self, core):
        self._core = core

    def entrust(self, context, lease, now):
        """Make a trust for a lease; return (the lease with the trust, its RecordedTrust).

        If Keystone refuses and [keystone] trust_required is false, the lease has no trust and the
        record is None. The reason of the lease says so, and the service acts as itself.

        :raises TrustRefused: the caller cannot delegate, and a trust is required.
        :raises BadField: the caller cannot delegate, and a field of a reservation needs its owner.
        """
        record = records.RecordedTrust(uuidutils.generate_uuid(), lease.id, now,
                                       _expiry(max(lease.end, now)))
        self._record(record)
        try:
            trust = self._core.cloud.as_service().keystone.create_trust(
                context, record.expires_at, redelegable=self._is_redelegated(lease))
        except errors.NotAuthenticated:
            self._forget(record)
            raise
        except errors.TrustRefused as error:
            self._forget(record)
            if self._core.conf.keystone.trust_required:
                raise
            refuse_without_owner(self._core, lease.reservations, reason=error.kwargs['reason'])
            LOG.warning('Lease %s has no trust, the service acts itself: %s', lease.id,
                        error.message)
            return lease.explained(acquisition_reasons.with_notice(lease, lease.reason_text)), None
        return (dataclasses.replace(lease, trust_id=trust.id),
                dataclasses.replace(record, trust_id=trust.id))

    def refuse_acting_for_lease(self, context):
        """Refuse a caller whose token was made for a lease, by Climate or by a service.

        :raises ActsForLease: the token was made for a lease.
        """
        if context.trust_id is not None and self._core.cloud.as_service().keystone.is_from_climate(
                context.trust_id, context.trustee_id):
            raise errors.ActsForLease()

    def _is_redelegated(self, lease):
        return any(self._core.registry.plugin(each.resource_type).redelegates(each.request)
                   for each in lease.reservations)

    @cores.again_after_a_race
    def _record(self, record):
        with self._core.database.writer() as connection:
            trusts.add(connection, record)

    def drop(self, record):
        """Delete a trust whose lease was not written; if that fails, the reaper deletes it."""
        if record is None:
            return
        try:
            self._core.cloud.as_service().keystone.delete_trust(record.trust_id)
            self._forget(record)
        except errors.ClimateError as error:
            LOG.warning('Trust %s is left to the reaper: %s', record.trust_id, error.message)

    def _forget(self, record):
        with self._core.database.writer() as connection:
            trusts.forget(connection, record.id)


def settle(connection, record):
    """Record that a lease uses a trust, in the transaction that writes the lease.

    :param record: the RecordedTrust; None for a lease without a trust.
    :raises LostRace: the request took so long that the trust is being dropped.
    """
    if record is not None and not trusts.settle(connection, record.id, record.trust_id):
        raise errors.LostRace('The cloud took too long to answer. Try again.')


def drop_of(core, lease):
    """Delete the trust of a lease that is over, and its record; "not found" is success."""
    if lease.trust_id is None:
        return
    core.cloud.as_service().keystone.delete_trust(lease.trust_id)
    with core.database.writer() as connection:
        trusts.forget_dropped(connection, lease.trust_id)


def refuse_beyond(core, lease, end):
    """Refuse an end of a lease that is after the expiry of its trust.

    :raises BadField: it names the end.
    """
    if lease.trust_id is None or end <= lease.end:
        return
    with core.database.reader() as connection:
        record = trusts.of(connection, lease.trust_id)
    if record is not None and record.expires_at is not None and end > record.expires_at:
        raise errors.BadField(field='end', reason=(
            f'the Keystone trust of the lease expires at {record.expires_at.isoformat()}; make '
            'another lease for the time after it.'))


def _expiry(end):
    """Return a moment well after the end of a lease at which no other trust expires."""
    spread = secrets.randbelow(_RANDOM // datetime.timedelta(microseconds=1))
    return min(end, _LATEST) + _BEYOND + datetime.timedelta(microseconds=spread)


def refuse_without_owner(core, reservations, before=(), reason=_NO_DELEGATION):
    """Refuse reservations that need their owner, for a lease without a trust.

    :param before: {id: Reservation} of the reservations before a change; one that needed its owner
        before is not refused.
    :param reason: why there is no trust, in the words of Keystone, for operators.
    :raises BadField: the error names the field of the reservation.
    """
    for each in reservations:
        plugin = core.registry.plugin(each.resource_type)
        needed = plugin.needs_owner(each.request)
        if needed is not None and not (
                each.id in before and plugin.needs_owner(before[each.id].request)):
            field, why = needed
            text = texts.Text(_NO_DELEGATION, reason).within(
                f'{why}. The lease has no Keystone trust for that: ',
                ' Leave the field out, or make a lease with a token that may delegate: from a '
                'password, not from an application credential.')
            raise errors.BadField(field=field, reason=text.operator, owner_reason=text.owner)


def refuse_beyond_roles(core, context, lease, changed, before):
    """Refuse a change that the owner's roles would carry out, and not those of its caller.

    Climate carries out the request in the cloud with the trust of the owner.

    :param changed: the Reservations that change.
    :param before: {id: Reservation} before the change, as `changed` with their secrets apart.
    :raises Forbidden: it names the fields.
    """
    fields = sorted({name for each in changed
                     if core.registry.plugin(each.resource_type).needs_owner(each.request)
                     for name in _differing(before[each.id], each)})
    if not fields or lease.trust_id is None or context.user_id == lease.user_id:
        return
    roles = core.cloud.as_service().keystone.roles_of_trust(lease.trust_id)
    if not roles <= set(context.roles):
        raise errors.Forbidden(
            f'{", ".join(fields)}: the owner of the lease has roles that you do not have, and '
            'Climate would carry out this change with them. Ask the owner, or make a lease of your '
            'own.', fields=fields)


def _differing(before, after):
    old, new = ({**each.request, **each.secrets} for each in (before, after))
    return [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]


class TrustReaper:
    """The periodic task that deletes the recorded trusts that no lease has."""

    def __init__(self, core):
        self._core = core

    def find(self, now):
        """Return the RecordedTrusts that no lease has, and none will get."""
        with self._core.database.reader() as connection:
            return trusts.unused(connection, now - _AGE)

    def reap(self, now):
        """Delete all that `find` returns; return the RecordedTrusts that were deleted."""
        deleted = []
        for record in self.find(now):
            with cores.isolated('Trust %s of lease %s', record.trust_id, record.lease_id):
                self.delete(record)
                deleted.append(record)
        return deleted

    def delete(self, record):
        """Delete one trust that no lease has, if it exists, and its record."""
        with self._core.database.writer() as connection:
            if not trusts.close(connection, record):
                return
        keystone = self._core.cloud.as_service().keystone
        # Without an answer of Keystone only the moment at which the trust expires is known.
        ids = [record.trust_id] if record.trust_id is not None else [
            each.id for each in keystone.trusts() if each.expires_at == record.expires_at]
        for trust_id in ids:
            keystone.delete_trust(trust_id)
            LOG.info('Trust %s of lease %s: no lease has it, dropped', trust_id, record.lease_id)
        with self._core.database.writer() as connection:
            trusts.forget(connection, record.id)
