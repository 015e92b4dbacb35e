# SPDX-License-Identifier: Apache-2.0
"""What plugins and pools tell an audit, and do where something is to be repaired.

What is here makes nothing and checks nothing: it is for types that leave nothing in the cloud.
Each plugin and each pool observes what it compares with, and compares it itself.
"""


class Audited:
    """The half of the contract of a resource plugin that audits use.

    `observed` is what `observe` returned a moment ago; `lease` and `reservation` are Records. No
    method may delete or move a server, or take from a project what it uses.
    """

    def observe(self, cloud):
        """Read from the cloud what the type compares with, as one frozen record of its own.

        Whole lists, not one call for each reservation: the cloud of an audit makes each call once
        for all plugins and pools. Reads only.
        """

    def traces(self, observed):
        """What reservations have in the cloud, of the kinds that this type makes. Pure.

        Also of reservations that the plugin knows nothing of; never what nobody could take for
        Climate's.

        :returns: ``domain.audit.Trace``, in any order.
        """
        return []

    def lacks(self, observed, lease, reservation, resources):
        """What a reservation that runs has not in the cloud, or has too much, as Drifts. Pure.

        :param resources: {need key: the Resources that were allocated, each once}.
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


class AuditedPool:
    """The half of the contract of a pool that audits use."""

    def observe(self, cloud):
        """Read from the cloud what the pool compares with, as ``Audited.observe``."""

    def audit(self, observed, resources, enrolled):
        """The Drifts of the pool itself, whoever has leased its resources. Pure.

        :param observed: what `observe` returned a moment ago.
        :param resources: the enrolled Resources that may be compared.
        :param enrolled: the names of all that are enrolled.
        """
        return []
