# SPDX-License-Identifier: Apache-2.0
"""The base class of the interfaces to services."""
import abc
from collections.abc import Callable
from typing import Any
from typing import ClassVar
from typing import TypeVar

_Method = TypeVar('_Method', bound=Callable[..., Any])


class Face(abc.ABC):  # noqa: B024 - each service adds its own methods
    """The interface to a part of a service, under one identity.

    :ivar trust_id: the trust of the user on whose behalf it acts; None: as Climate itself.
    :ivar login_group: the option group whose login it uses.
    """

    #: The name of the service in messages.
    service: ClassVar[str] = ''

    def __init__(self, trust_id: str | None = None, login_group: str = 'keystone') -> None:
        self.trust_id = trust_id
        self.login_group = login_group


def read(method: _Method) -> _Method:
    """Mark a method as read-only: it is retried at once if the service does not answer."""
    method.reads_only = True  # type: ignore[attr-defined]
    return method
