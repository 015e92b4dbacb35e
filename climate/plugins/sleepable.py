# SPDX-License-Identifier: Apache-2.0
"""The contract of a pool whose resources can sleep while they are not leased."""
import abc
from collections.abc import Sequence

from climate.domain import records
from climate.plugins import cloud as clouds

#: The reason with which Climate closes sleeping resources in the cloud.
REASON = 'climate: asleep to save energy'


class Sleepable(abc.ABC):
    """The methods of a pool for switching the power of its resources. All are repeatable.

    The power itself is switched by a driver of ``climate.power``, one machine at a time. Several
    resources, also of several pools, may be on one machine. `resources` are all enrolled Resources
    of this pool on one machine, or those of them that wake up.
    """

    def machine(self, name: str) -> str:
        """Return the name of the machine on which the resource `name` is. Pure.

        Power drivers know the machine by this name. Resources with the same one sleep together.
        """
        return name

    @abc.abstractmethod
    def close_for_sleep(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> bool:
        """Close these resources to new servers and the like.

        :returns: False if an administrator has closed one already; it stays as it is.
        """

    @abc.abstractmethod
    def open_after_sleep(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> None:
        """Undo `close_for_sleep`. A resource that an administrator has closed stays closed."""

    @abc.abstractmethod
    def in_use(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> str | None:
        """Return why the machine must not be switched off, in words; None if it may be.

        It checks the servers and the like that are on the machine, or arrive there. It is called
        before and after `close_for_sleep`, also while the machine shuts down.
        """

    @abc.abstractmethod
    def works(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> set[int]:
        """Return the ids of the Resources that are up in the cloud, closed or not."""

    def ready(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> set[int]:
        """Return the ids of the Resources on which leases can start; all are up and open.

        Resources that an administrator has closed are among them: waiting would not change that.
        """
        return {each.id for each in resources}
