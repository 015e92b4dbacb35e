# SPDX-License-Identifier: Apache-2.0
"""Trusts: made for a lease from its owner's token, dropped when nobody needs them."""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import leases

LOG = log.getLogger(__name__)

# A trust is made just before its lease is written: one that is young may still get its lease.
_AGE = datetime.timedelta(minutes=10)

_NOTICE = 'Climate acts for this lease as itself: the caller could not delegate.'


def with_notice(lease, reason):
    """The reason (or None) of a lease, with the notice that it has no trust, where it has none."""
    return ' '.join(filter(None, (reason, None if lease.trust_id else _NOTICE))) or None


class Trusts:
    """Makes and drops the Keystone trusts of leases."""

    def __init__(self, core):
        self._core = core

    def entrust(self, context, lease):
        """The lease with a new trust of its owner, and the trust's id.

        Where Keystone refuses and [keystone] trust_required is false, the lease has none, says
        so in its reason, and the service acts by itself.

        :raises TrustRefused: the caller cannot delegate, and a trust is required.
        """
        try:
            trust = self._core.cloud.as_service().keystone.create_trust(context)
        except errors.TrustRefused as error:
            if self._core.conf.keystone.trust_required:
                raise
            LOG.warning('Lease %s has no trust, the service acts itself: %s', lease.id,
                        error.message)
            return dataclasses.replace(lease, reason=with_notice(lease, lease.reason)), None
        return dataclasses.replace(lease, trust_id=trust.id), trust.id

    def drop(self, trust_id):
        """Drop a trust that got no lease; a failure is left to the reaper."""
        if trust_id is None:
            return
        try:
            self._core.cloud.as_service().keystone.delete_trust(trust_id)
        except errors.CloudError as error:
            LOG.warning('Trust %s is left to the reaper: %s', trust_id, error.message)


class Reaper:
    """Drops trusts that no lease has, when it has seen them twice, ten minutes apart."""

    def __init__(self, core):
        self._core = core
        self._first_seen = {}

    def reap(self, now):
        """One look; returns the ids of the trusts dropped."""
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
