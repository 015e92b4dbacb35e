# SPDX-License-Identifier: Apache-2.0
"""The resources that a reservation may get beside those that it has in the cloud."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.cloud import call_guard
from climate.domain import requirement

LOG = log.getLogger(__name__)

# A request waits for the answer.
_ANSWER_SECONDS = 5


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
    if criteria == requirement.NOTHING:
        return wish
    return dataclasses.replace(wish, need=dataclasses.replace(
        wish.need, requirement=requirement.conjunction(wish.need.requirement, criteria)))
