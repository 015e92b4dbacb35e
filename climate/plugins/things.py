# SPDX-License-Identifier: Apache-2.0
"""The half of a plugin's contract for reservations that lease one thing of the cloud."""


class LeasesThings:
    """What a plugin says of the one thing that a reservation leases, such as a server.

    The thing exists without the reservation. It is known by its id in the cloud, `leased_id`, or
    is not known yet: then the reservation awaits it. What is here by default is for types whose
    reservations lease nothing of the kind.

    `lease` and `reservation` are Records as they are now.
    """

    #: True where a reservation may lease one thing.
    leases_things = False
    #: How long a reservation awaits its thing before it is over.
    patience_seconds = 0
    #: How often the manager looks whether what is leased is still there. 0: never.
    audit_seconds = 0

    def leased_id(self, reservation):
        """The id of what the reservation leases; None: nothing, or it is not known. Pure.

        No two reservations that are not over may lease the same thing.
        """

    def awaits_thing(self, reservation):
        """True where the reservation leases one thing and it is not known yet which. Pure."""
        return False

    def arrivals(self, cloud, lease):
        """The ids of things in the cloud that say of themselves that they are of this lease.

        Oldest first; some of them may be those that its reservations lease already. Reads only.
        """
        return []

    def check_thing(self, cloud, lease, reservation, leased_id):
        """Refuse what the reservation that awaits its thing cannot lease. Reads only.

        :raises BadRequest: it is not there, of another project, or does not fit.
        """

    def bound(self, reservation, leased_id):
        """The binding of a reservation that leases this thing from now on, as a dict. Pure."""
        return dict(reservation.binding)

    def gone(self, cloud, leased_ids):
        """Those of the things leased with this type that are not there any more, as a frozenset.

        Reads only; asked about one or about all of them.
        """
        return frozenset()

    def roams(self, lease, reservation):
        """True where servers of the reservation may be placed on ordinary hosts just now. Pure."""
        return False

    def room(self, reservation):
        """How much of each of its resources what it leases may take, {class: units}; None: all.

        Pure. What it was made for stays what it is: more is not given to it by resizing.
        """

    def wakes(self, reservation):
        """True where what it leases is woken on its resources during the start. Pure."""
        return False
