# SPDX-License-Identifier: Apache-2.0
"""Keystone trusts: create them with the owner's token, delete them when no lease needs them.

Climate deletes only trusts of which it has a record, because other services may use the same
service user, such as Climate in another region, and their trusts look alike. The record is written
before the trust is created, with the moment at which the trust will expire. That moment is random,
so it identifies the trust even if the answer of Keystone was lost and its id is unknown.
"""
import dataclasses
import datetime
import secrets

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import series
from climate.db import trusts
from climate.domain import records
from climate.domain import texts
from climate.manager import core as cores

LOG = log.getLogger(__name__)

# A trust cannot be prolonged, but its lease can. So it expires five to six years after the lease.
_BEYOND = datetime.timedelta(days=5 * 365)
_RANDOM = datetime.timedelta(days=365)
_LATEST = datetime.datetime(9990, 1, 1, tzinfo=datetime.UTC)
# The number of moments that are tried if a user's trust in the project expires at the same moment.
_MOMENTS = 5
_NO_DELEGATION = 'its owner could not delegate.'
_NOT_ITS_OWNER = 'only its owner can give one, by making this change.'


class Trusts:
    """Makes and drops the Keystone trusts of leases."""

    def __init__(self, core):
        self._core = core

    def entrust(self, context, lease, now):
        """Create a trust for a new lease that needs one.

        :returns: (the lease with the trust, its RecordedTrust); without a trust (the lease, None).
        :raises TrustRefused: the caller cannot delegate, and a trust is required.
        :raises BadField: the caller cannot delegate, and a field of a reservation needs a trust.
        """
        return self._entrust(context, lease, lease.reservations, now)

    def entrust_change(self, change):
        """Create a trust for a lease that needs one only because of a LeaseChange.

        Only the owner of the lease can delegate. If somebody else changes the lease, refuse the
        change if it needs the owner; otherwise the lease stays without a trust.

        :returns: (the LeaseChange with the trust, its RecordedTrust); without (the change, None).
        :raises TrustRefused: as `entrust`.
        :raises BadField: there is no trust, and a changed field needs the owner of the lease.
        """
        context, lease = change.context, change.lease
        changed = [each for each in change.target.reservations if each.id in change.changed]
        if lease.trust_id is not None or not changed:
            return change, None
        before = {each.id: each for each in lease.reservations}
        if (context.user_id, context.project_id) != (lease.user_id, lease.project_id):
            refuse_without_owner(self._core, changed, before, _NOT_ITS_OWNER)
            return change, None
        target, record = self._entrust(context, change.target, changed, change.now, before)
        return dataclasses.replace(change, target=target), record

    def _entrust(self, context, lease, reservations, now, before=()):
        """Create a trust if Climate acts as the owner for any reservation; return as `entrust`.

        If Keystone refuses the trust, the lease stays without one. If a reservation needs the
        owner, the request is refused. With [keystone] trust_required, every lease gets a trust.

        :param before: see `refuse_without_owner`.
        """
        required = self._core.conf.keystone.trust_required
        if lease.trust_id is not None:
            # A lease of a series shares the trust of the series.
            return lease, None
        if not required and not self._acts_as_owner(reservations):
            return lease, None
        try:
            record = self._create(context, now, lease.id, lease.end,
                                  redelegable=self._is_redelegated(lease.reservations))
        except errors.TrustRefused as error:
            if required:
                raise
            refuse_without_owner(self._core, reservations, before, error.kwargs['reason'])
            LOG.info('Lease %s has no trust, so the service user acts for it: %s', lease.id,
                     error.message)
            return lease, None
        return dataclasses.replace(lease, trust_id=record.trust_id), record

    def of_series(self, context, series_id, end, reservations, now):
        """Create the trust that a series and all its leases share; return its RecordedTrust.

        :param end: the end of the last lease.
        :param reservations: the Reservations, or ReservationRequests, of each lease.
        :raises TrustRefused: the caller cannot delegate.
        :raises CloudError: Keystone refuses each moment.
        """
        return self._create(context, now, series_id, end,
                            redelegable=self._is_redelegated(reservations))

    def _create(self, context, now, owner_id, end, *, redelegable):
        """Create a trust that expires at a random moment; return its RecordedTrust.

        :param owner_id: the id of the lease or series.
        :raises CloudError: Keystone refuses each moment.
        """
        keystone = self._core.cloud.as_service().keystone
        for _ in range(_MOMENTS):
            record = records.RecordedTrust(uuidutils.generate_uuid(), owner_id, now,
                                           _expiry(max(end, now)))
            self._record(record)
            try:
                trust = keystone.create_trust(
                    context, record.expires_at, redelegable=redelegable)
            except errors.Conflict as error:
                # The moment identifies the trust of another lease, so the record must not stay.
                self._forget(record)
                LOG.info('%s: its trust cannot expire at %s, another moment is chosen: %s',
                         owner_id, record.expires_at, error.message)
            except (errors.NotAuthenticated, errors.TrustRefused):
                self._forget(record)
                raise
            else:
                return dataclasses.replace(record, trust_id=trust.id)
        raise errors.CloudError.plain(
            keystone.service, f'it refused {_MOMENTS} trusts with random moments of expiry, each '
            'because the user has another trust in this project that expires at the same moment.')

    def refuse_acting_for_lease(self, context):
        """Refuse a caller whose token was made for a lease, by Climate or by a service.

        :raises ActsForLease: the token was made for a lease.
        """
        if context.trust_id is not None and self._core.cloud.as_service().keystone.is_from_climate(
                context.trust_id, context.trustee_id):
            raise errors.ActsForLease()

    def _acts_as_owner(self, reservations):
        return any(self._core.registry.plugin(each.resource_type).acts_as_owner(each.request)
                   for each in reservations)

    def _is_redelegated(self, reservations):
        return any(self._core.registry.plugin(each.resource_type).redelegates(each.request)
                   for each in reservations)

    @cores.again_after_a_race
    def _record(self, record):
        with self._core.database.writer() as connection:
            trusts.add(connection, record)

    def drop(self, record):
        """Delete a trust whose lease was not written; if that fails, the TrustReaper does it."""
        if record is None:
            return
        try:
            self._core.cloud.as_service().keystone.delete_trust(record.trust_id)
            self._forget(record)
        except errors.ClimateError as error:
            LOG.warning('Trust %s was not deleted; a periodic task will delete it: %s',
                        record.trust_id, error.message)

    def _forget(self, record):
        with self._core.database.writer() as connection:
            trusts.forget(connection, record.id)


def settle(connection, record):
    """Record that a lease uses a trust, in the transaction that writes the lease.

    :param record: the RecordedTrust; None for a lease without a trust.
    :raises LostRace: the request took so long that another manager is deleting the trust.
    """
    if record is not None and not trusts.settle(connection, record.id, record.trust_id):
        raise errors.LostRace('The cloud took too long to answer. Try again.')


def drop_of(core, lease):
    """Delete the trust of a lease that is over, and its record; "not found" is success.

    The trust of a series stays; ``manager.series`` deletes it after the last lease.
    """
    if lease.trust_id is None:
        return
    with core.database.reader() as connection:
        if series.have_trust(connection, lease.trust_id):
            return
    core.cloud.as_service().keystone.delete_trust(lease.trust_id)
    with core.database.writer() as connection:
        trusts.forget_dropped(connection, lease.trust_id)


def refuse_beyond(core, lease, end):
    """Refuse an end of a lease that is after the expiry of its trust.

    :raises BadField: the new end is after the expiry.
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
    """Refuse reservations that need a trust of their owner, because their lease has none.

    :param before: {id: Reservation} before a change; a reservation that needed a trust before is
        not refused.
    :param reason: the reason of Keystone for refusing the trust, for operators.
    :raises BadField: the error names the field that needs the trust.
    """
    for reservation in reservations:
        plugin = core.registry.plugin(reservation.resource_type)
        field_and_reason = plugin.needs_owner(reservation.request)
        if field_and_reason is not None and not (
                reservation.id in before
                and plugin.needs_owner(before[reservation.id].request)):
            field, why = field_and_reason
            text = texts.Text(_NO_DELEGATION, reason).within(
                f'{why}. The lease has no Keystone trust for that: ',
                ' Leave the field out, or make a lease with a token that may delegate: from a '
                'password, not from an application credential.')
            raise errors.BadField(field=field, reason=text.operator, owner_reason=text.owner)


def refuse_beyond_roles(core, context, lease, changed, before):
    """Refuse a change that needs roles of the owner that the caller does not have.

    Climate makes the change in the cloud with the trust of the owner.

    :param changed: the changed Reservations; their secrets are not in their requests.
    :param before: {id: Reservation} before the change, in the same format.
    :raises Forbidden: the error names the fields.
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
