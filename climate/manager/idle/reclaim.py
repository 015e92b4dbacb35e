# SPDX-License-Identifier: Apache-2.0
"""The action that takes an idle lease back, or a part of it. Repeatable.

While it runs, the lease shows the task "reclaim", and Climate lets no new server onto it. The
action also closes the lease in the cloud, and only then looks what is there. Nothing can come
after this look, so nothing is taken on which there is something. If a change of the lease waits to
be tried again, the lease shows that task instead, and nothing is taken.
"""
from oslo_log import log

from climate import errors
from climate.db import use_samples
from climate.domain import idle
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import results
from climate.manager.booking import allocated
from climate.manager.idle import rules
from climate.manager.idle import takings

LOG = log.getLogger(__name__)

_NOT_IDLE = texts.same('It stays as it is: it is not idle any more, or may not be taken back.')
_IN_USE = texts.same('It stays as it is: there is something on it.')
_IN_CHANGE = texts.same('It stays as it is: it is being changed.')


class Reclaim:
    """The action of the event ``reclaim_lease``."""

    def __init__(self, core):
        self._core = core
        self._allocated = allocated.Allocated(core)

    def carry_out(self, claim, cloud, now):
        """Take back what is idle of the lease of a Claim; return the Outcome.

        :param cloud: the ``plugins.cloud.LeaseCloud``.
        """
        # An earlier try may have closed it.
        work = _Work(self._core, claim, cloud, self._allocated.of(claim.lease.open_reservations),
                     closed=claim.event.begun_at < claim.at)
        try:
            return self._carried_out(work, now)
        except errors.ClimateError as error:
            if work.closed:
                # It must not stay closed: this is tried until the cloud answers, or the lease ends.
                return results.Outcome(results.BUSY, texts.of_error(error), patient=True)
            return results.Outcome(results.MOOT, texts.of_error(error))

    def _carried_out(self, work, now):
        taking, why = None, _IN_CHANGE
        if work.alone:
            taking, why = self._idle_part(work.lease, now), _NOT_IDLE
        if taking is not None:
            why = _IN_USE
            # What is in use is not even closed, but what is closed already is looked at only then.
            if work.closed or taking.without(work.occupied()) is not None:
                work.close()
                taking = taking.without(work.occupied())
                if taking is not None and work.take(taking):
                    return _done(work.lease, taking)
        if work.closed:
            work.reopen()
        return results.Outcome(results.MOOT, why)

    def _idle_part(self, lease, now):
        """Return the Taking of a lease by its samples until now; None: nothing may be taken."""
        judged = rules.of(self._core.conf)
        if (lease.reclaim_at is None or lease.state != lifecycle.ACTIVE or lease.end <= now
                or rules.is_exempt(self._core.conf, lease)
                or not takings.measures(self._core, lease)):
            return None
        with self._core.database.reader() as connection:
            known = use_samples.since(connection, judged.watched_since(now),
                                      [each.id for each in lease.open_reservations])
        verdict = idle.judge({key: known.get(key, use_samples.NONE)
                              for key in takings.keys_of(lease)}, judged)
        return takings.of(self._core, lease, verdict.unused) if verdict.is_idle else None


class _Work:
    """One try: the lease in the cloud.

    :ivar closed: whether it was closed, by this try or an earlier one.
    :ivar alone: whether no other event of the lease waits to be tried again.
    """

    def __init__(self, core, claim, cloud, resources, closed):
        self.lease = claim.lease
        self.closed = closed
        self.alone = claim.has_task
        self._registry = core.registry
        self._check = claim.ownership.check
        self._cloud = cloud
        self._resources = resources

    def close(self):
        """Close all reservations, so that nothing new comes onto them."""
        self.closed = True
        for each, plugin, _ in self._each():
            plugin.close(self._cloud, self.lease, each)

    def reopen(self):
        """Open all reservations again, with all that they have."""
        for each, plugin, resources in self._each():
            plugin.reopen(self._cloud, self.lease, each, resources)

    def occupied(self):
        """Return {reservation id: the ids of its resources on which there is anything}."""
        return {each.id: plugin.occupied(self._cloud, self.lease, each, resources)
                for each, plugin, resources in self._each()}

    def take(self, taking):
        """Return what a Taking has to the pools, and open the rest; a lease that ends stays closed.

        :returns: False if there was something on it after all.
        """
        if taking.ends:
            return True
        for each, plugin, resources in self._each():
            ids = taking.resource_ids.get(each.id, ())
            given = [one for some in resources.values() for one in some if one.id in ids]
            rest = {need: tuple(one for one in some if one.id not in ids)
                    for need, some in resources.items()}
            try:
                if given:
                    plugin.give_up(self._cloud, self.lease, each, given)
            except errors.StillBusy as error:
                LOG.info('Lease %s: nothing is taken back: %s', self.lease.id, error.message)
                return False
            plugin.reopen(self._cloud, self.lease, each, rest)
        return True

    def _each(self):
        """Yield (Reservation, its plugin, {need key: its Resources}) of those that can be taken."""
        for each in self.lease.open_reservations:
            plugin = self._registry.plugin(each.resource_type)
            if plugin.reclaims_one(each):
                self._check()
                yield each, plugin, self._resources[each.id]


def _done(lease, taking):
    """Return the Outcome of a Taking that the cloud has carried out."""
    since = f'{lease.idle_since:%Y-%m-%d %H:%M} UTC'
    if taking.ends:
        return results.Outcome(results.DONE, texts.same(
            f'Nothing ran on it since {since}, so it ends now.'), taken=taking)
    count = sum(len(ids) for ids in taking.resource_ids.values())
    whole = sum(len(set(each.resource_ids)) for each in lease.open_reservations)
    return results.Outcome(
        results.DONE, texts.same(f'Nothing ran on {count} of its {whole} resources since {since}: '
                                 f'{"it was" if count == 1 else "they were"} taken back.'),
        taken=taking, released=dict(taking.resource_ids))
