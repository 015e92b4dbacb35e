# SPDX-License-Identifier: Apache-2.0
"""The interface to Keystone's trusts."""
import abc
import datetime
from typing import Any

from climate.cloud import models
from climate.cloud.base import face


class Keystone(face.Face):
    """The trusts that users give to Climate."""

    service = 'Keystone'

    @abc.abstractmethod
    def create_trust(self, context: Any,
                     expires_at: datetime.datetime | None = None,
                     redelegable: bool = False) -> models.Trust:
        """Create a Trust from the caller to Climate, with the caller's roles and project.

        :param expires_at: when it expires, to the microsecond; None: never.
        :param redelegable: whether a service to which Climate speaks for the user may make one
            trust more from it.
        :param context: the RequestContext of the caller, whose token creates the trust.
        :raises TrustRefused: this token may not delegate, or these roles cannot be delegated.
        :raises NotAuthenticated: the token is no longer valid.
        """

    @abc.abstractmethod
    def delete_trust(self, trust_id: str) -> None:
        """Delete a trust. Do nothing if it does not exist."""

    @abc.abstractmethod
    @face.read
    def trusts(self) -> list[models.Trust]:
        """Return the Trusts that were given to Climate's user, without their roles.

        Other services that log in as the same user have some of them.
        """
