# SPDX-License-Identifier: Apache-2.0
"""Wishes: make, change and limit the needs that a booking must serve."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.cloud import call_guard
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import base

LOG = log.getLogger(__name__)

# The limit for an answer of the cloud while a caller waits.
_ANSWER_SECONDS = 5


@dataclasses.dataclass(frozen=True)
class Wish:
    """A Need of a reservation, for a booking.

    :ivar keep: ids of the reservation's resources, which it keeps if they still fit; an id is
        listed once for each copy.
    :ivar must_keep: the resources in `keep` are in use, so a choice without one of them is refused.
    :ivar beside: the booking adds allocations instead of replacing those of the reservation.
    :ivar avoid: ids of resources that must not be chosen.
    :ivar ignoring: ids of other reservations whose allocations count as free: those of sub-leases.
    """

    reservation_id: str
    need: object
    keep: tuple[int, ...] = ()
    must_keep: bool = False
    beside: bool = False
    avoid: frozenset = frozenset()
    ignoring: frozenset = frozenset()

    def demanding(self, **changes):
        """Return the Wish with changed fields of its Demand."""
        return dataclasses.replace(self, need=dataclasses.replace(
            self.need, demand=dataclasses.replace(self.need.demand, **changes)))

    def also_meeting(self, criteria):
        """Return the Wish with additional criteria."""
        return dataclasses.replace(self, need=dataclasses.replace(
            self.need, requirement=requirement.conjunction(self.need.requirement, criteria)))

    def for_other_dates(self):
        """Return the Wish for the present number of copies, for a change of the dates only.

        A running reservation may keep the resources that it uses, even if they no longer meet the
        criteria.
        """
        current, in_use = len(self.keep), self.must_keep and bool(self.keep)
        least = current if in_use else self.need.demand.at_least
        wish = self.demanding(at_least=least, at_most=max(current, least))
        return dataclasses.replace(wish, need=dataclasses.replace(
            wish.need, requirement=requirement.NOTHING)) if in_use else wish


def of(registry, reservations, must_keep=False):
    """Return a Wish for each need of the reservations, which keep their resources.

    :param must_keep: the resources are in use.
    """
    return [Wish(reservation_id=each.id, need=need, must_keep=must_keep,
                 keep=each.allocated.get(need.key, ()))
            for each in reservations for need in registry.needs_of(each)]


def needs_of_request(core, context, request):
    """Return the Needs of a ReservationRequest of a caller. Only reads the cloud.

    :raises BadRequest: the request is wrong; the error names the field.
    """
    plugin = core.registry.plugin(request.resource_type)
    return plugin.needs(plugin.resolve(
        core.cloud, core.registry.checked(request.resource_type, request.request),
        base.Occasion(context.project_id, caller=context)))


def replacement(reservation, need, copies, kept):
    """Return the Wish for new copies in place of lost ones.

    :param copies: (the least number of new copies, the greatest number).
    :param kept: ids of the resources that the reservation does not lose.
    """
    fewest, most = copies
    own = frozenset(kept).intersection(reservation.allocated.get(need.key, ()))
    apart = need.demand.spread is selection.Spread.APART
    return Wish(reservation.id, need, beside=True,
                avoid=own if apart else frozenset()).demanding(at_least=fewest, at_most=most)


def replacements(registry, reservation, lost):
    """Return a Wish for each need of a reservation that loses copies, for the same number.

    :param lost: ids of the resources that the reservation loses.
    """
    kept = set(reservation.resource_ids).difference(lost)
    counts = [(need, sum(key in lost for key in reservation.allocated.get(need.key, ())))
              for need in registry.needs_of(reservation)]
    return [replacement(reservation, need, (count, count), kept) for need, count in counts if count]


def joining(core, reservation, wish):
    """Return the Wish with the criteria of the plugin for resources that join present ones.

    If the cloud does not answer, return `wish`. Then a chosen resource may be unable to join; the
    event that adds it to the reservation replaces it.
    """
    plugin = core.registry.plugin(reservation.resource_type)
    try:
        with call_guard.answered_within(_ANSWER_SECONDS):
            criteria = plugin.joins(core.cloud, reservation)
    except errors.CloudError as error:
        LOG.warning('Reservation %s: cannot check which resources can join it: %s',
                    reservation.id, error.message)
        return wish
    return wish if criteria == requirement.NOTHING else wish.also_meeting(criteria)


def refuse_too_many(most, wishes, had=()):
    """Refuse Wishes for more slots of shared resources than one lease may have.

    A slot is one copy of a demand, such as the capacity of one instance. Whole resources do not
    count, because the enrolled resources limit their number.

    :param most: the limit, ``[manager] max_slots``.
    :param had: the present Wishes of the lease, which may keep a number beyond the limit.
    :raises BadField: the lease would have more slots than the limit, and than before.
    """
    count = _slots(wishes)
    if count > most and count > _slots(had):
        raise errors.BadField(field='reservations.amount', reason=(
            f'a lease may have at most {most} instances or other copies on shared resources, but '
            f'this one would have {count}: ask for less, or make several leases.'))


def _slots(wishes):
    return sum(wish.need.demand.at_most for wish in wishes
               if wish.need.demand.amount is not selection.WHOLE)
