# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract for reservations that lease one target, such as a server."""


class LeasesTargets:
    """The methods for reservations that lease one target: an object such as a server.

    The target exists without the reservation. It is known by its id in the cloud, `leased_id`. If
    it is not known yet, the reservation awaits its target. The defaults in this class are for
    types whose reservations lease no target.

    `lease` and `reservation` are Records as they are now.
    """

    #: True if reservations of the type may lease a target.
    leases_targets = False
    #: The noun for a target in messages, such as "server".
    target_kind = 'target'
    #: True if the targets are servers, so that Nova's scheduler asks about them.
    schedules_targets = False
    #: The time for which a reservation awaits its target. Then it is over.
    patience_seconds = 0
    #: The interval at which the manager checks whether the targets still exist. 0: never.
    audit_seconds = 0

    def leased_id(self, reservation):
        """Return the id of the target; None if there is none or it is not known yet. Pure.

        No two reservations that are not over may lease the same target.
        """

    def awaits_target(self, reservation):
        """Return True if the reservation leases a target that is not known yet. Pure."""
        return False

    def discovered_targets(self, cloud, lease):
        """Return the ids of targets in the cloud that are marked as belonging to this lease.

        Oldest first; reservations of the lease may lease some of them already. Changes nothing.
        """
        return []

    def check_target(self, cloud, lease, reservation, leased_id):
        """Refuse a target that the awaiting reservation cannot lease; return its name, or None.

        Changes nothing. The name is kept in the binding: see `bound`.

        :raises BadRequest: the target does not exist, is of another project, or does not fit.
        """

    def bound(self, reservation, leased_id, name=None):
        """Return the new binding of a reservation that gets this target. Pure.

        :param name: the result of `check_target`.
        """
        return dict(reservation.binding)

    def gone(self, cloud, leased_ids):
        """Return the ids of the leased targets that do not exist any more, as a frozenset.

        Changes nothing. It is called with one target or with all of the type.
        """
        return frozenset()

    def may_leave_pool(self, lease, reservation):
        """Return True if servers of the reservation may be on ordinary hosts now. Pure."""
        return False

    def target_capacity(self, reservation):
        """Return the units that the target may use of each resource, {class: units}. Pure.

        None means all units. The request has the limit, so a resized server gets no more than was
        reserved for it.
        """
