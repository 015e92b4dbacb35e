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

    A driver of ``climate.power`` switches machines on and off. Several resources, even of several
    pools, may be on one machine. `resources` are the enrolled Resources of this pool on one
    machine, or the Resources among them that wake up.
    """

    def machine(self, name: str) -> str:
        """Return the name by which power drivers know the machine of the resource `name`. Pure.

        All resources on a machine sleep together.
        """
        return name

    @abc.abstractmethod
    def close_for_sleep(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> bool:
        """Close these resources to new servers, volumes or other objects.

        :returns: False if an administrator has closed one of them; that one is not changed.
        """

    @abc.abstractmethod
    def open_after_sleep(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> None:
        """Undo `close_for_sleep`. A resource that an administrator has closed stays closed."""

    @abc.abstractmethod
    def in_use(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> str | None:
        """Return why the machine must not be switched off, in words, or None.

        Checks for servers, volumes or other objects that are on the machine or being placed there.
        Called before and after `close_for_sleep`, and while the machine shuts down.
        """

    @abc.abstractmethod
    def works(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> set[int]:
        """Return the ids of the Resources that are up in the cloud, closed or not."""

    def ready(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> set[int]:
        """Return the ids of the Resources whose wake-up is complete. All `resources` are up.

        Includes Resources that an administrator has closed, because waiting would not open them.
        """
        return {each.id for each in resources}
