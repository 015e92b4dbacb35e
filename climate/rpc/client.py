# SPDX-License-Identifier: Apache-2.0
"""The manager as the API sees it: one method for each RPC method, records in and out."""
from kombu import exceptions as kombu_exceptions
import oslo_messaging as messaging

from climate import errors
from climate.domain import availability
from climate.domain import records
from climate.domain import usability
from climate.rpc import transport
from climate.rpc import wire

# By default oslo.messaging tries for ever to hand a call to a broker that is gone: requests would
# stand still in the API, and be carried out long after their callers have left.
_RETRIES = 2


class Bus:
    """Calls over oslo.messaging.

    :raises ManagerSilent: no answer within rpc_response_timeout; the work may go on.
    :raises Overloaded: the bus itself does not take the call.
    """

    def __init__(self, conf):
        self._client = messaging.get_rpc_client(
            transport.connect(conf), transport.target(conf),
            serializer=transport.Serializer(), retry=_RETRIES)
        # The client has registered this option.
        self._seconds = conf.rpc_response_timeout
        self._reached = False

    def call(self, context, method, timeout=None, **arguments):
        try:
            self._reach(context)
            return self._client.prepare(timeout=timeout).call(context, method, **arguments)
        except messaging.MessagingTimeout as error:
            raise errors.ManagerSilent(seconds=timeout or self._seconds,
                                       where='it in a moment') from error
        except (messaging.MessageDeliveryFailure, kombu_exceptions.OperationalError) as error:
            # The second where not even a connection was got, which oslo.messaging does not
            # translate.
            raise errors.Overloaded(retry_after=5) from error
        except messaging.RemoteError as error:
            # Something that nobody meant; the manager logged it with its traceback.
            raise errors.ClimateError() from error

    def _reach(self, context):
        """Before the first call, find out whether there is a broker.

        The first call opens the connection on which the answers come, for which oslo.messaging
        waits as long as it takes, and lets all other calls wait too. What expects no answer
        gives up after `_RETRIES`.
        """
        if not self._reached:
            self._client.cast(context, 'ping')
            self._reached = True


class ManagerClient:
    """What a manager does for the API.

    :param bus: anything with ``call(context, method, timeout=None, **arguments)`` that takes
        records and gives them, packed or not: a Bus, or the manager itself in the same process.
    """

    def __init__(self, bus):
        self._call = bus.call

    def ping(self, context, timeout=None):
        """{"database": "ok"}: a manager lives and reaches its database."""
        return self._call(context, 'ping', timeout=timeout)

    def create_lease(self, context, lease_id, request):
        """The Lease made from a LeaseRequest under the id that the API minted."""
        return wire.unpack(records.Lease, self._call(
            context, 'create_lease', lease_id=lease_id, request=request))

    def update_lease(self, context, lease_id, changes):
        """The Lease after LeaseChanges."""
        return wire.unpack(records.Lease, self._call(
            context, 'update_lease', lease_id=lease_id, changes=changes))

    def delete_lease(self, context, lease_id):
        """True when it is gone; False while the cloud gives its resources back."""
        return self._call(context, 'delete_lease', lease_id=lease_id)

    def get_lease(self, context, lease_id):
        """The Lease, a deleted one too."""
        return wire.unpack(records.Lease, self._call(context, 'get_lease', lease_id=lease_id))

    def lease_history(self, context, lease_id, marker=None, limit=None):
        """What happened to a lease: its HistoryLines in order.

        :param marker: the id of the line before the first; None: from the beginning.
        :param limit: so many at most; None: all.
        """
        return wire.unpack_all(records.HistoryLine, self._call(
            context, 'lease_history', lease_id=lease_id, marker=marker, limit=limit))

    def list_leases(self, context, query):
        """The Leases that a LeaseQuery asks for."""
        return wire.unpack_all(records.Lease, self._call(context, 'list_leases', query=query))

    def reservation_hosts(self, context, reservation_id, project_id):
        """The Usability of a reservation for a project now."""
        return wire.unpack(usability.Usability, self._call(
            context, 'reservation_hosts', reservation_id=reservation_id,
            project_id=project_id))

    def server_hosts(self, context, server_id, project_id):
        """The Usability, for a project now, of the reservation that leases a server."""
        return wire.unpack(usability.Usability, self._call(
            context, 'server_hosts', server_id=server_id, project_id=project_id))

    def get_lease_of_reservation(self, context, reservation_id):
        """The Lease that a reservation belongs to, a deleted one too."""
        return wire.unpack(records.Lease, self._call(
            context, 'get_lease_of_reservation', reservation_id=reservation_id))

    def bind_reservation(self, context, reservation_id, leased_id):
        """The Lease of a reservation that leases one thing of the cloud from now on."""
        return wire.unpack(records.Lease, self._call(
            context, 'bind_reservation', reservation_id=reservation_id, leased_id=leased_id))

    def get_offer(self, context, offer_id):
        """An Offer that the caller's project holds."""
        return wire.unpack(records.Offer, self._call(context, 'get_offer', offer_id=offer_id))

    def list_offers(self, context):
        """The Offers that the caller's project holds, by when each expires."""
        return wire.unpack_all(records.Offer, self._call(context, 'list_offers'))

    def delete_offer(self, context, offer_id):
        """Give an offer back."""
        self._call(context, 'delete_offer', offer_id=offer_id)

    def find_availability(self, context, query):
        """The ``availability.Answer`` to an ``availability.Query``."""
        return wire.unpack(availability.Answer, self._call(
            context, 'find_availability', query=query))

    def list_services(self, context):
        """The Services by their ids."""
        return wire.unpack_all(records.Service, self._call(context, 'list_services'))

    def create_resource(self, context, pool, name, properties):
        """The Resource, enrolled in `pool` with {property: text}."""
        return wire.unpack(records.Resource, self._call(
            context, 'create_resource', pool=pool, name=name, properties=properties))

    def update_resource(self, context, pool, resource_id, properties, reservable=None):
        """The Resource with new {property: text, or None to take it away}.

        :param reservable: whether it can be leased; None leaves it.
        """
        return wire.unpack(records.Resource, self._call(
            context, 'update_resource', pool=pool, resource_id=resource_id,
            properties=properties, reservable=reservable))

    def delete_resource(self, context, pool, resource_id):
        """Withdraw a resource from its pool."""
        self._call(context, 'delete_resource', pool=pool, resource_id=resource_id)

    def get_resource(self, context, pool, resource_id):
        """One Resource."""
        return wire.unpack(records.Resource, self._call(
            context, 'get_resource', pool=pool, resource_id=resource_id))

    def list_resources(self, context, pool, marker=None, limit=None):
        """The Resources of a pool by id."""
        return wire.unpack_all(records.Resource, self._call(
            context, 'list_resources', pool=pool, marker=marker, limit=limit))

    def list_properties(self, context, pool):
        """The Property records of a pool, private ones too."""
        return wire.unpack_all(records.Property, self._call(
            context, 'list_properties', pool=pool))

    def update_property(self, context, pool, name, private):
        """The Property, shown to everybody or to admins only."""
        return wire.unpack(records.Property, self._call(
            context, 'update_property', pool=pool, name=name, private=private))

    def list_allocations(self, context, pool, resource_id=None, lease_id=None,
                         reservation_id=None):
        """[(resource id, [Allocation])] of a pool, of one of its resources where named."""
        found = self._call(context, 'list_allocations', pool=pool, resource_id=resource_id,
                           lease_id=lease_id, reservation_id=reservation_id)
        return [(each, wire.unpack_all(records.Allocation, items)) for each, items in found]
