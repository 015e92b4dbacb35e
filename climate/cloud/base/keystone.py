# SPDX-License-Identifier: Apache-2.0
"""The face of Keystone: the trusts."""
import abc


class Keystone(abc.ABC):
    """The trusts that users give to Climate."""

    service = 'Keystone'

    @abc.abstractmethod
    def create_trust(self, context):
        """A Trust from the caller to Climate: the caller's roles and project, without end.

        :param context: the RequestContext of the caller, whose own token makes the trust.
        :raises TrustRefused: this token may not delegate, or these roles cannot be.
        :raises NotAuthenticated: the token is no longer valid.
        """

    @abc.abstractmethod
    def delete_trust(self, trust_id):
        """Drop a trust; one that is not there is done."""

    @abc.abstractmethod
    def trusts(self):
        """The Trusts that were given to Climate, as a list; their roles are not told."""
