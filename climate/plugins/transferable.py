# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract by which leases are transferred to other projects."""
from typing import Any
from typing import ClassVar

Request = dict[str, Any]


class Transferable:
    """The methods of a plugin for transfers. All are pure.

    The receiver of a future reservation gets a new reservation with the same request, which
    `resolve` checks for the receiver. The defaults are for types whose requests name objects of
    the project, such as volumes or networks.
    """

    #: Whether future reservations of the type can be transferred.
    transferable: ClassVar[bool] = False
    #: Whether running reservations can be transferred. They keep their id and their objects, and
    #: `start` is called again with the lease of the receiver.
    transfers_running: ClassVar[bool] = False

    @classmethod
    def is_transferable(cls, request: Request) -> bool:
        """Return whether a future reservation with this request can be transferred."""
        return cls.transferable

    @classmethod
    def split(cls, request: Request, given: int, kept: int) -> tuple[Request, Request] | None:
        """Return the requests for two parts of a reservation; None: it cannot be split.

        :param given: the number of resources of the first part.
        :param kept: the number of resources of the second part.
        """
        return None
