# SPDX-License-Identifier: Apache-2.0
"""The interface to Keystone: the trusts of users, and their roles in projects."""
import abc
import datetime
from typing import Any

from climate.cloud import models
from climate.cloud.base import interface
from climate.conf import services


class Keystone(interface.ServiceInterface):
    """The trusts that users give to Climate, and the roles of users in projects."""

    service = 'Keystone'

    @abc.abstractmethod
    def create_trust(self, context: Any,
                     expires_at: datetime.datetime | None = None,
                     redelegable: bool = False) -> models.Trust:
        """Create a Trust from the caller to Climate, with the caller's roles and project.

        :param expires_at: when it expires; None: never. Keystone shows it in whole seconds.
        :param redelegable: whether `redelegate` may make trusts from it, for calls to a service
            that makes a trust of its own.
        :param context: the RequestContext of the caller, whose token creates the trust.
        :raises TrustRefused: this token may not delegate, or these roles cannot be delegated.
        :raises NotAuthenticated: the token is no longer valid.
        :raises Conflict: another trust from the caller to Climate in the project expires in the
            same second.
        """

    @abc.abstractmethod
    def redelegate(self) -> models.Trust:
        """Make a trust to Climate from the trust of this identity, with the same roles.

        A service can make one trust of its own from it: that one expires at the same moment, and
        Keystone refuses another one between the same users that does, even if the first is deleted.
        So each call makes a trust that expires at another moment, up to an hour before its parent.
        It is deleted with its parent.

        :raises TrustRefused: no such trust can be made from that of this identity.
        """

    @abc.abstractmethod
    def delete_trust(self, trust_id: str) -> None:
        """Delete a trust and those made from it. Do nothing if it does not exist."""

    @abc.abstractmethod
    @interface.read
    def own_token(self) -> str:
        """Return a token of this identity, for a service that is not in the catalog."""

    @abc.abstractmethod
    @interface.read
    def trusts(self) -> list[models.Trust]:
        """Return the Trusts that were given to Climate's user, without their roles.

        Other services that log in as the same user have some of them.
        """

    @abc.abstractmethod
    @interface.read
    def roles_of_trust(self, trust_id: str) -> frozenset[str]:
        """Return the names of the roles that a trust to Climate delegates; none if it is gone."""

    @abc.abstractmethod
    @interface.read
    def is_from_climate(self, trust_id: str, trustee_id: str | None) -> bool:
        """Return whether a trust was given to Climate, or made by a service from such a trust.

        Heat, for instance, makes a trust of its own from the one with which Climate creates a
        stack.

        :param trustee_id: the user who acts by the trust.
        """

    @abc.abstractmethod
    @interface.read
    def has_role(self, user_id: str, project_id: str) -> bool | None:
        """Return whether a user has a role in a project, directly, by a group or by inheritance.

        A disabled user, or a user of a disabled domain, has no role. Nobody has a role in a
        disabled project, or a project of a disabled domain.

        :returns: None if Keystone cannot know: users of an identity provider may get their roles
            only when they log in.
        """

    @abc.abstractmethod
    @interface.read
    def identities(self, kind: str, name_or_id: str) -> list[models.KeystoneIdentity]:
        """Return the users or projects with an id, or else those with a name.

        :param kind: 'user' or 'project'.
        """

    @abc.abstractmethod
    @interface.read
    def project_limits(self, project_id: str) -> dict[str, int]:
        """Return the unified limits of a project on Climate, {name of the resource: maximum}.

        They are the limits of the project and, for other resources, the registered defaults. -1
        means without limit.

        :raises CloudError: they cannot be read, for example because [oslo_limit] is wrong.
        """


class KeystoneAdapter(interface.Adapter):
    """The options and the probe of Keystone, which is always connected."""

    options = services.KEYSTONE

    @staticmethod
    def probe(services: Any) -> object:
        return services.keystone.trusts()
