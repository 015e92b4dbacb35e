# SPDX-License-Identifier: Apache-2.0
"""The periodic task that deletes the recorded trusts that no lease has."""
import collections
import datetime

from oslo_log import log

from climate.db import trusts
from climate.manager import core as cores

LOG = log.getLogger(__name__)

# A trust is created just before its lease is written, so the lease of a younger trust may follow.
_AGE = datetime.timedelta(minutes=10)


class TrustReaper:
    """The periodic task that deletes recorded trusts without a lease."""

    def __init__(self, core):
        self._core = core

    def find(self, now):
        """Return the RecordedTrusts that no lease uses and no request can still use."""
        with self._core.database.reader() as connection:
            return trusts.unused(connection, now - _AGE)

    def identify(self, recorded, listed):
        """Return {id of the record: id of the trust} of RecordedTrusts that are in Keystone.

        If the answer of Keystone was lost, only the expiry identifies the trust. Keystone shows
        it in whole seconds, so a trust of another lease, or a second candidate, is left alone.

        :param listed: the Trusts in Keystone.
        """
        listed_ids, by_second = {trust.id for trust in listed}, collections.defaultdict(set)
        for trust in listed:
            by_second[_second(trust.expires_at)].add(trust.id)
        lost = {record.id: by_second[_second(record.expires_at)] for record in recorded
                if record.trust_id is None and record.expires_at is not None}
        with self._core.database.reader() as connection:
            known = trusts.known(connection, set().union(*lost.values()))
        found = {key: ids - known for key, ids in lost.items()}
        return {**{record.id: record.trust_id for record in recorded
                   if record.trust_id in listed_ids},
                **{key: next(iter(ids)) for key, ids in found.items() if len(ids) == 1}}

    def reap(self, now):
        """Delete the trusts that `find` returns; return the RecordedTrusts of the deleted ones."""
        deleted = []
        for record in self.find(now):
            with cores.isolated('Trust %s of lease %s', record.trust_id, record.lease_id):
                self.delete(record)
                deleted.append(record)
        return deleted

    def delete(self, record):
        """Delete a trust, if it exists, and its record, unless a lease uses it now."""
        with self._core.database.writer() as connection:
            if not trusts.close(connection, record):
                return
        keystone = self._core.cloud.as_service().keystone
        trust_id = record.trust_id or self.identify([record], keystone.trusts()).get(record.id)
        if trust_id is not None:
            keystone.delete_trust(trust_id)
            LOG.info('Trust %s of lease %s: deleted, no lease uses it', trust_id, record.lease_id)
        with self._core.database.writer() as connection:
            trusts.forget(connection, record.id)


def _second(moment):
    return moment and moment.replace(microsecond=0)
