# SPDX-License-Identifier: Apache-2.0
"""Wishes: the needs of the reservations of a lease, as they are booked, replaced and limited."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.cloud import call_guard
from climate.domain import requirement
from climate.domain import selection

LOG = log.getLogger(__name__)

# A request waits for the answer.
_ANSWER_SECONDS = 5


@dataclasses.dataclass(frozen=True)
class Wish:
    """A bound need: a Need of a plugin, and the reservation that has it.

    :ivar keep: ids of resources that the reservation has and should keep if they still fit; an id
        stands once for each copy.
    :ivar must_keep: the resources in `keep` are in use, so a choice without one of them is refused.
    :ivar beside: the reservation keeps its allocations, and the new ones are added.
    :ivar avoid: ids of resources that the reservation may not get.
    """

    reservation_id: str
    need: object
    keep: tuple[int, ...] = ()
    must_keep: bool = False
    beside: bool = False
    avoid: frozenset = frozenset()

    def demanding(self, **changes):
        """Return the Wish with changed fields of its Demand."""
        return dataclasses.replace(self, need=dataclasses.replace(
            self.need, demand=dataclasses.replace(self.need.demand, **changes)))

    def also_meeting(self, criteria):
        """Return the Wish for resources that meet further criteria, too."""
        return dataclasses.replace(self, need=dataclasses.replace(
            self.need, requirement=requirement.conjunction(self.need.requirement, criteria)))

    def as_many_as_now(self):
        """Return the Wish with the present number of copies, because only the dates change.

        A running reservation may keep the resources that it uses, even if they no longer meet the
        criteria.
        """
        current, stays = len(self.keep), self.must_keep and bool(self.keep)
        least = current if stays else self.need.demand.at_least
        wish = self.demanding(at_least=least, at_most=max(current, least))
        return wish if not stays else dataclasses.replace(
            wish, need=dataclasses.replace(wish.need, requirement=requirement.NOTHING))


def of(registry, reservations, must_keep=False):
    """Return the Wishes of reservations, one for each need; each keeps the resources that it has.

    :param must_keep: the resources are in use.
    """
    return [Wish(reservation_id=each.id, need=need, must_keep=must_keep,
                 keep=each.allocated.get(need.key, ()))
            for each in reservations for need in registry.needs_of(each)]


def replacement(reservation, need, copies, kept):
    """Return the Wish for the lost copies of a need, beside the resources that are kept.

    :param copies: (the least number of new copies, the wanted number).
    """
    fewest, most = copies
    own = frozenset(kept).intersection(reservation.allocated.get(need.key, ()))
    apart = need.demand.spread is selection.Spread.APART
    return Wish(reservation.id, need, beside=True,
                avoid=own if apart else frozenset()).demanding(at_least=fewest, at_most=most)


def replacements(registry, reservation, lost):
    """Return a Wish for each need of a reservation that loses resources, for as many copies.

    :param lost: the ids of the resources.
    """
    kept = set(reservation.resource_ids).difference(lost)
    counts = [(need, sum(key in lost for key in reservation.allocated.get(need.key, ())))
              for need in registry.needs_of(reservation)]
    return [replacement(reservation, need, (count, count), kept) for need, count in counts if count]


def joining(core, reservation, wish):
    """Return a Wish for resources that can join those that a reservation has in the cloud.

    If the cloud does not answer, the start of the change finds out, and takes other resources.
    """
    plugin = core.registry.plugin(reservation.resource_type)
    try:
        with call_guard.answered_within(_ANSWER_SECONDS):
            criteria = plugin.joins(core.cloud, reservation)
    except errors.CloudError as error:
        LOG.warning('Reservation %s: which resources can join it is not known: %s',
                    reservation.id, error.message)
        return wish
    return wish if criteria == requirement.NOTHING else wish.also_meeting(criteria)


def refuse_too_many(most, wishes, had=()):
    """Refuse Wishes for more slots of shared resources than one lease may have.

    A slot is one copy of a demand, such as the capacity of one instance. Whole resources do not
    count: no lease gets more than are enrolled.

    :param most: the limit, ``[manager] max_slots``.
    :param had: the Wishes of the lease as it is; a lease that has more already may keep them.
    :raises BadField: they have more.
    """
    count = _slots(wishes)
    if count > most and count > _slots(had):
        raise errors.BadField(field='reservations.amount', reason=(
            f'a lease has at most {most} instances, and other things that share a resource, and '
            f'this one would have {count}: ask for less, or make several leases.'))


def _slots(wishes):
    return sum(wish.need.demand.at_most for wish in wishes
               if wish.need.demand.amount is not selection.WHOLE)
