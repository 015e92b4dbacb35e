# SPDX-License-Identifier: Apache-2.0
"""The part of a plugin's contract for reservations that lease one target, such as a server."""


class LeasesTargets:
    """The methods for reservations that lease one target: an object such as a server.

    The target exists without the reservation. `leased_id` is its id in the cloud. As long as the id
    is not known, the reservation awaits its target. The defaults in this class are for types whose
    reservations lease no target.

    `lease` and `reservation` are the present Records.
    """

    #: True if reservations of the type may lease a target.
    leases_targets = False
    #: The noun for a target in messages, such as "server".
    target_kind = 'target'
    #: True if the targets are servers. Then Nova's scheduler asks Climate about them.
    schedules_targets = False
    #: The time for which a reservation awaits its target. After that the reservation is over.
    patience_seconds = 0
    #: The interval at which the manager checks whether the targets still exist. 0: never.
    audit_seconds = 0

    def leased_id(self, reservation):
        """Return the id of the target; None if there is none or it is not known yet. Pure.

        Only one reservation at a time may lease a target.
        """

    def awaits_target(self, reservation):
        """Return True if the reservation leases a target that is not known yet. Pure."""
        return False

    def discovered_targets(self, cloud, lease):
        """Return the ids of the targets whose marks in the cloud name this lease, oldest first.

        Reservations of the lease may lease some of these targets already. Changes nothing.
        """
        return []

    def check_target(self, cloud, lease, reservation, leased_id):
        """Refuse a target that the awaiting reservation cannot lease; return its name, or None.

        Changes nothing. `bound` gets the name.

        :raises BadRequest: the target does not exist, is of another project, or does not fit.
        """

    def bound(self, reservation, leased_id, name=None):
        """Return the new binding of a reservation that gets this target. Pure.

        :param name: the result of `check_target`.
        """
        return dict(reservation.binding)

    def gone(self, cloud, leased_ids):
        """Return the ids of the leased targets that do not exist any more, as a frozenset.

        Changes nothing. Called with the id of one target, or with the ids of all targets of the
        type.
        """
        return frozenset()

    def may_leave_pool(self, lease, reservation):
        """Return True if servers of the reservation may be on hosts outside the pool. Pure."""
        return False

    def target_capacity(self, reservation):
        """Return the units that the target may use of a resource, {class: units}. Pure.

        None means no limit. The limit comes from the request, so a server that was resized gets no
        more than was reserved for it.
        """
