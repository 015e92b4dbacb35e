# SPDX-License-Identifier: Apache-2.0
"""The face of Nova: the flavors and the server groups."""
import abc


class Flavors(abc.ABC):
    """The flavors and the server groups, which Nova keeps too."""

    service = 'Nova'

    @abc.abstractmethod
    def flavor(self, flavor_id, project_id):
        """The Flavor, or None; one that the project may not use is not there either."""

    @abc.abstractmethod
    def ensure(self, flavor_id, name, sizes, extra_specs):
        """Make a private flavor of that id, unless there is one; it gets the extra specs anyway.

        :param sizes: {'vcpus', 'ram', 'disk', 'ephemeral', 'swap'}: numbers, as Nova has them.
        """

    @abc.abstractmethod
    def allow(self, flavor_id, project_id):
        """Let a project use a private flavor; one that may is done."""

    @abc.abstractmethod
    def forbid(self, flavor_id, project_id):
        """Let a project use a private flavor no more; no flavor, no access: done."""

    @abc.abstractmethod
    def delete(self, flavor_id):
        """Delete a flavor; one that is not there is done."""

    @abc.abstractmethod
    def servers(self, flavor_id):
        """The Servers of all projects with this flavor, oldest first; none without a flavor."""

    @abc.abstractmethod
    def ensure_group(self, name, policy):
        """The id of one's own server group of that name, made if there is none.

        :param policy: 'affinity' or 'anti-affinity'.
        """

    @abc.abstractmethod
    def delete_groups(self, name):
        """Delete the server groups of that name of all projects; none is done."""

    @abc.abstractmethod
    def every(self):
        """All Flavors, private ones too, as a list in no promised order; as the service only."""

    @abc.abstractmethod
    def groups(self):
        """The ServerGroups of all projects, as a list in no promised order."""
