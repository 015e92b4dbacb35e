# SPDX-License-Identifier: Apache-2.0
"""What a pool offers whose resources can be cleared for a lease."""
import abc


class Clearable(abc.ABC):
    """The part of a pool that takes resources out of use while they are cleared for a lease."""

    @abc.abstractmethod
    def disabled(self, observed):
        """What is out of use because it is being cleared, or was, as ``domain.audit.Disabled``.

        Pure.

        :param observed: what ``observe`` of the pool returned a moment ago.
        """

    @abc.abstractmethod
    def enable(self, cloud, name, lease_id):
        """Put one of these into use again if it is out of use for that lease yet. Repeatable."""
