# SPDX-License-Identifier: Apache-2.0
"""What a resource plugin tells an audit, and does where something is to be repaired.

What is here makes nothing and checks nothing: it is for types that leave nothing in the cloud.
"""


class Audited:
    """The half of the contract of a resource plugin that audits use.

    `picture` is the cloud as ``manager.picture.Picture`` shows it; `lease` and `reservation` are
    Records. No method may delete or move a server, or take from a project what it uses.
    """

    def traces(self, picture):
        """What reservations have in the cloud, of the kinds that this type makes. Pure.

        Also of reservations that the plugin knows nothing of; never what nobody could take for
        Climate's.

        :returns: ``domain.audit.Trace``, in any order.
        """
        return []

    def lacks(self, picture, lease, reservation, resources):
        """What a reservation that runs has not in the cloud, or has too much, as Drifts. Pure.

        :param resources: the Resources that were promised, each once.
        """
        return []

    def complete(self, cloud, lease, reservation, resources):
        """Add what a reservation that runs lacks; returns the binding. Repeatable.

        It takes nothing from anybody: that is for `start` alone.

        :raises StillBusy: servers are in the way.
        """
        return dict(reservation.binding)

    def clear(self, cloud, made_for, resources):
        """Take what a reservation that is over left in the cloud, but no server. Repeatable.

        :param made_for: the id of the reservation, as a Trace has it.
        :param resources: the enrolled Resources that nobody holds; those of them that it had go
            back to where the others are.
        :raises StillBusy: servers are in the way; nothing that they need was taken.
        """
