# SPDX-License-Identifier: Apache-2.0
"""The contract of a pool whose resources can sleep while nobody has leased them."""
import abc
from collections.abc import Sequence

from climate.domain import records
from climate.plugins import cloud as clouds


class Sleepable(abc.ABC):
    """What a pool knows of its resources when their power is switched. All may be repeated.

    The power itself is switched by a driver of ``climate.power``.
    """

    @abc.abstractmethod
    def close_for_sleep(self, cloud: clouds.Cloud, resource: records.Resource) -> bool:
        """Keep the cloud from starting anything on a resource.

        :returns: False if an administrator has closed it already; that stays as it is.
        """

    @abc.abstractmethod
    def open_after_sleep(self, cloud: clouds.Cloud, resource: records.Resource) -> None:
        """Undo `close_for_sleep`. What an administrator has closed stays closed."""

    @abc.abstractmethod
    def in_use(self, cloud: clouds.Cloud, resource: records.Resource) -> str | None:
        """Return what is on a resource, or comes to it, in words; None if it may sleep."""

    @abc.abstractmethod
    def works(self, cloud: clouds.Cloud, resources: Sequence[records.Resource]) -> set[int]:
        """Return the ids of those Resources that the cloud says are up, closed or not."""
