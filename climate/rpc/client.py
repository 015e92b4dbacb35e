# SPDX-License-Identifier: Apache-2.0
"""The client of the manager for the API: one method for each RPC method, with records."""
from collections.abc import Mapping
from typing import Any
from typing import Protocol

from climate import context
from climate.domain import audit
from climate.domain import availability
from climate.domain import energy
from climate.domain import forecast
from climate.domain import maintenance
from climate.domain import prices
from climate.domain import records
from climate.domain import subscriptions
from climate.domain import timeline
from climate.domain import usability
from climate.domain import usage_groups
from climate.domain import utilisation
from climate.domain import what_if
from climate.rpc import wire


class Calls(Protocol):
    """The way to a manager: a Bus, or the manager itself in the same process."""

    def call(self, context: context.RequestContext, method: str, timeout: float | None = None,
             **arguments: Any) -> Any:
        """Call the method of that name; arguments and result are records, packed or not."""


class ManagerClient:
    """The client of a manager.

    :param bus: a Bus, or the manager itself in the same process.
    """

    def __init__(self, bus: Calls) -> None:
        self._call = bus.call

    def ping(self, context: context.RequestContext, timeout: float | None = None) -> dict[str, str]:
        """Return {"database": "ok"} if a manager answers and reaches its database."""
        found: dict[str, str] = self._call(context, 'ping', timeout=timeout)
        return found

    def create_lease(self, context: context.RequestContext, lease_id: str,
                     request: records.LeaseRequest) -> records.Lease:
        """Create a lease under an id that the API chose; return the Lease."""
        return wire.unpack(records.Lease, self._call(
            context, 'create_lease', lease_id=lease_id, request=request))

    def update_lease(self, context: context.RequestContext, lease_id: str,
                     changes: records.LeaseChanges) -> records.Lease:
        """Change a lease; return the Lease."""
        return wire.unpack(records.Lease, self._call(
            context, 'update_lease', lease_id=lease_id, changes=changes))

    def delete_lease(self, context: context.RequestContext, lease_id: str) -> bool:
        """Delete a lease; return False while its resources are still being released."""
        gone: bool = self._call(context, 'delete_lease', lease_id=lease_id)
        return gone

    def swap_resource(self, context: context.RequestContext, lease_id: str, resource: str,
                      reservation_id: str | None = None, *,
                      by_admin: bool = False) -> records.Lease:
        """Swap a resource of a running lease for another one; return the Lease.

        :param resource: its name or id.
        :param reservation_id: the reservation that has it; None: the only one.
        :param by_admin: the caller is an administrator, so the resource goes into quarantine.
        """
        return wire.unpack(records.Lease, self._call(
            context, 'swap_resource', lease_id=lease_id, resource=resource,
            reservation_id=reservation_id, by_admin=by_admin))

    def get_lease(self, context: context.RequestContext, lease_id: str) -> records.Lease:
        """Return a Lease, even if it is deleted."""
        return wire.unpack(records.Lease, self._call(context, 'get_lease', lease_id=lease_id))

    def lease_history(self, context: context.RequestContext, lease_id: str,
                      marker: int | None = None, limit: int | None = None,
                      most_bytes: int | None = None) -> list[records.HistoryLine]:
        """Return the history of a lease, as HistoryLines in order.

        :param marker: the id of the line before the first one; None: from the beginning.
        :param limit: how many lines at most; None: all.
        :param most_bytes: how many bytes at most. If these end the list, its last item is None.
        """
        return wire.unpack_all(records.HistoryLine, self._call(
            context, 'lease_history', lease_id=lease_id, marker=marker, limit=limit,
            most_bytes=most_bytes))

    def list_leases(self, context: context.RequestContext,
                    query: records.LeaseQuery) -> list[records.Lease]:
        """Return the Leases that a LeaseQuery selects.

        If the bytes of the query end the list, its last item is None.
        """
        return wire.unpack_all(records.Lease, self._call(context, 'list_leases', query=query))

    def reservation_hosts(self, context: context.RequestContext, reservation_id: str,
                          project_id: str) -> usability.Usability:
        """Return the current Usability of a reservation for a project."""
        return wire.unpack(usability.Usability, self._call(
            context, 'reservation_hosts', reservation_id=reservation_id,
            project_id=project_id))

    def server_hosts(self, context: context.RequestContext, server_id: str,
                     project_id: str) -> usability.Usability:
        """Return the current Usability, for a project, of the reservation of a server."""
        return wire.unpack(usability.Usability, self._call(
            context, 'server_hosts', server_id=server_id, project_id=project_id))

    def get_lease_of_reservation(self, context: context.RequestContext,
                                 reservation_id: str) -> records.Lease:
        """Return the Lease of a reservation, even if it is deleted."""
        return wire.unpack(records.Lease, self._call(
            context, 'get_lease_of_reservation', reservation_id=reservation_id))

    def bind_reservation(self, context: context.RequestContext, reservation_id: str,
                         leased_id: str) -> records.Lease:
        """Bind a reservation to its target; return the Lease."""
        return wire.unpack(records.Lease, self._call(
            context, 'bind_reservation', reservation_id=reservation_id, leased_id=leased_id))

    def get_offer(self, context: context.RequestContext, offer_id: str) -> records.Offer:
        """Return an Offer that the caller's project holds."""
        return wire.unpack(records.Offer, self._call(context, 'get_offer', offer_id=offer_id))

    def list_offers(self, context: context.RequestContext) -> list[records.Offer]:
        """Return the Offers that the caller's project holds, by expiry."""
        return wire.unpack_all(records.Offer, self._call(context, 'list_offers'))

    def delete_offer(self, context: context.RequestContext, offer_id: str) -> None:
        """Release an offer."""
        self._call(context, 'delete_offer', offer_id=offer_id)

    def create_subscription(self, context: context.RequestContext,
                            request: subscriptions.Request) -> subscriptions.Subscription:
        """Create a subscription of the caller; return the Subscription."""
        return wire.unpack(subscriptions.Subscription, self._call(
            context, 'create_subscription', request=request))

    def get_subscription(self, context: context.RequestContext,
                         subscription_id: str) -> subscriptions.Subscription:
        """Return a Subscription of any user."""
        return wire.unpack(subscriptions.Subscription, self._call(
            context, 'get_subscription', subscription_id=subscription_id))

    def list_subscriptions(self, context: context.RequestContext, query: subscriptions.Query
                           ) -> list[subscriptions.Subscription]:
        """Return the Subscriptions that a Query selects, the oldest first.

        If the bytes of the query end the list, its last item is None.
        """
        return wire.unpack_all(subscriptions.Subscription, self._call(
            context, 'list_subscriptions', query=query))

    def update_subscription(self, context: context.RequestContext, subscription_id: str,
                            changes: subscriptions.Changes) -> subscriptions.Subscription:
        """Change a subscription; return the Subscription."""
        return wire.unpack(subscriptions.Subscription, self._call(
            context, 'update_subscription', subscription_id=subscription_id, changes=changes))

    def delete_subscription(self, context: context.RequestContext, subscription_id: str) -> None:
        """Delete a subscription with its log."""
        self._call(context, 'delete_subscription', subscription_id=subscription_id)

    def test_subscription(self, context: context.RequestContext,
                          subscription_id: str) -> subscriptions.Subscription:
        """Order a test of a subscription; its log will have the result."""
        return wire.unpack(subscriptions.Subscription, self._call(
            context, 'test_subscription', subscription_id=subscription_id))

    def subscription_log(self, context: context.RequestContext, subscription_id: str,
                         marker: int | None = None, limit: int | None = None,
                         most_bytes: int | None = None) -> list[subscriptions.Delivery]:
        """Return the Deliveries of a subscription, the newest first.

        If the bytes end the list, its last item is None.
        """
        return wire.unpack_all(subscriptions.Delivery, self._call(
            context, 'subscription_log', subscription_id=subscription_id, marker=marker,
            limit=limit, most_bytes=most_bytes))

    def get_calendar(self, context: context.RequestContext,
                     secret_hash: str) -> subscriptions.Calendar:
        """Return the Calendar whose address has the secret with that SHA-256."""
        return wire.unpack(subscriptions.Calendar, self._call(
            context, 'get_calendar', secret_hash=secret_hash))

    def find_availability(self, context: context.RequestContext,
                          query: availability.Query) -> availability.Answer:
        """Return the ``availability.Answer`` to an ``availability.Query``."""
        return wire.unpack(availability.Answer, self._call(
            context, 'find_availability', query=query))

    def pool_calendar(self, context: context.RequestContext, pool: str,
                      start: records.Moment | None, end: records.Moment | None,
                      limit: int) -> list[availability.CalendarSpan]:
        """Return the first `limit` CalendarSpans of a pool between two moments.

        :param start: None: now.
        :param end: None: a month after the start.
        """
        return wire.unpack_all(availability.CalendarSpan, self._call(
            context, 'pool_calendar', pool=pool, start=start, end=end, limit=limit))

    def what_if(self, context: context.RequestContext,
                question: what_if.Question) -> what_if.Answer:
        """Return the ``what_if.Answer`` to a ``what_if.Question``."""
        return wire.unpack(what_if.Answer, self._call(context, 'what_if', question=question))

    def forecast(self, context: context.RequestContext,
                 query: forecast.Query) -> forecast.Answer:
        """Return the ``forecast.Answer`` to a ``forecast.Query``."""
        return wire.unpack(forecast.Answer, self._call(context, 'forecast', query=query))

    def create_maintenance(self, context: context.RequestContext,
                           request: maintenance.Request) -> maintenance.Maintenance:
        """Plan a maintenance, or preview it; return it with the leases in its way."""
        return wire.unpack(maintenance.Maintenance, self._call(
            context, 'create_maintenance', request=request))

    def list_maintenances(self, context: context.RequestContext, marker: str | None = None,
                          limit: int | None = None, most_bytes: int | None = None
                          ) -> list[maintenance.Maintenance]:
        """Return the Maintenances that are not over, by start.

        If the bytes end the list, its last item is None.

        :param marker: the id after which to begin; None: at the first.
        """
        return wire.unpack_all(maintenance.Maintenance, self._call(
            context, 'list_maintenances', marker=marker, limit=limit, most_bytes=most_bytes))

    def get_maintenance(self, context: context.RequestContext,
                        maintenance_id: str) -> maintenance.Maintenance:
        """Return a Maintenance with the leases in its way."""
        return wire.unpack(maintenance.Maintenance, self._call(
            context, 'get_maintenance', maintenance_id=maintenance_id))

    def delete_maintenance(self, context: context.RequestContext, maintenance_id: str) -> None:
        """Delete a maintenance."""
        self._call(context, 'delete_maintenance', maintenance_id=maintenance_id)

    def report_usage(self, context: context.RequestContext,
                     query: usage_groups.Query) -> usage_groups.Report:
        """Return the ``usage_groups.Report`` that answers a ``usage_groups.Query``."""
        return wire.unpack(usage_groups.Report, self._call(context, 'report_usage', query=query))

    def report_utilisation(self, context: context.RequestContext,
                           query: utilisation.Query) -> utilisation.Answer:
        """Return the ``utilisation.Answer`` to a ``utilisation.Query``."""
        return wire.unpack(utilisation.Answer, self._call(
            context, 'report_utilisation', query=query))

    def report_energy(self, context: context.RequestContext,
                      query: energy.Query) -> energy.Answer:
        """Return the ``energy.Answer`` to an ``energy.Query``."""
        return wire.unpack(energy.Answer, self._call(context, 'report_energy', query=query))

    def get_timeline(self, context: context.RequestContext,
                     query: timeline.Query) -> timeline.Timeline:
        """Return the ``timeline.Timeline`` that answers a ``timeline.Query``."""
        return wire.unpack(timeline.Timeline, self._call(context, 'get_timeline', query=query))

    def create_price_book(self, context: context.RequestContext, valid_from: records.Moment | None,
                          document: Mapping[str, Any]) -> prices.StoredBook:
        """Add a version of the price book; return it.

        :param valid_from: None: now.
        """
        return wire.unpack(prices.StoredBook, self._call(
            context, 'create_price_book', valid_from=valid_from, document=document))

    def list_price_books(self, context: context.RequestContext) -> list[prices.StoredBook]:
        """Return the versions of the price book, in the order in which they become valid."""
        return wire.unpack_all(prices.StoredBook, self._call(context, 'list_price_books'))

    def get_price_book(self, context: context.RequestContext,
                       version: int | None) -> prices.StoredBook:
        """Return a version of the price book; None: the one that is valid now."""
        return wire.unpack(prices.StoredBook, self._call(
            context, 'get_price_book', version=version))

    def list_statements(self, context: context.RequestContext,
                        query: prices.StatementQuery) -> list[prices.Statement]:
        """Return the Statements that a StatementQuery selects, by month and project."""
        return wire.unpack_all(prices.Statement, self._call(
            context, 'list_statements', query=query))

    def list_statement_lines(self, context: context.RequestContext,
                             query: prices.StatementQuery) -> list[prices.StatementLine]:
        """Return the StatementLines that a StatementQuery selects."""
        return wire.unpack_all(prices.StatementLine, self._call(
            context, 'list_statement_lines', query=query))

    def get_audit(self, context: context.RequestContext) -> audit.Result | None:
        """Return the ``audit.Result`` of the newest audit of the managers; None: there is none."""
        found = self._call(context, 'get_audit')
        return None if found is None else wire.unpack(audit.Result, found)

    def list_services(self, context: context.RequestContext) -> list[records.Service]:
        """Return the Services by their ids."""
        return wire.unpack_all(records.Service, self._call(context, 'list_services'))

    def create_resource(self, context: context.RequestContext, pool: str, name: str,
                        properties: Mapping[str, str | None],
                        fields: Mapping[str, Any] | None = None) -> records.Resource:
        """Enrol a resource in `pool` with {property: text}; return the Resource.

        :param name: '' if the pool needs no name.
        :param fields: further fields that the pool needs, {field: value}.
        """
        return wire.unpack(records.Resource, self._call(
            context, 'create_resource', pool=pool, name=name, properties=properties,
            fields=fields))

    def create_resources(self, context: context.RequestContext, pool: str, name: str,
                         properties: Mapping[str, str | None],
                         fields: Mapping[str, Any] | None = None) -> list[records.Resource]:
        """Enrol all resources of a range, or none; return the Resources, by id.

        The parameters are those of `create_resource`.
        """
        return wire.unpack_all(records.Resource, self._call(
            context, 'create_resources', pool=pool, name=name, properties=properties,
            fields=fields))

    def update_resource(self, context: context.RequestContext, pool: str, resource_id: int,
                        properties: Mapping[str, str | None],
                        reservable: bool | None = None,
                        out_of_order: str | None = None) -> records.Resource:
        """Change all of these of a resource, or nothing; return the Resource.

        :param properties: {property: text or None to remove it}.
        :param reservable: whether it can be leased; None: leave this unchanged.
        :param out_of_order: why it is out of order; '': it is in order; None: leave this unchanged.
        """
        return wire.unpack(records.Resource, self._call(
            context, 'update_resource', pool=pool, resource_id=resource_id,
            properties=properties, reservable=reservable, out_of_order=out_of_order))

    def set_out_of_order(self, context: context.RequestContext, pool: str, resource_id: int,
                         reason: str) -> records.Resource:
        """Take a resource out of order for `reason`; return the Resource.

        :param reason: '': it is in order again.
        """
        return wire.unpack(records.Resource, self._call(
            context, 'set_out_of_order', pool=pool, resource_id=resource_id, reason=reason))

    def set_power(self, context: context.RequestContext, pool: str, resource_id: int,
                  awake: bool) -> records.Resource:
        """Wake a resource that sleeps, or put it to sleep; return the Resource."""
        return wire.unpack(records.Resource, self._call(
            context, 'set_power', pool=pool, resource_id=resource_id, awake=awake))

    def delete_resource(self, context: context.RequestContext, pool: str, resource_id: int) -> None:
        """Withdraw a resource from its pool."""
        self._call(context, 'delete_resource', pool=pool, resource_id=resource_id)

    def get_resource(self, context: context.RequestContext, pool: str,
                     resource_id: int) -> records.Resource:
        """Return one Resource."""
        return wire.unpack(records.Resource, self._call(
            context, 'get_resource', pool=pool, resource_id=resource_id))

    def list_resources(self, context: context.RequestContext, pool: str, marker: int | None = None,
                       limit: int | None = None, most_bytes: int | None = None
                       ) -> list[records.Resource]:
        """Return the Resources of a pool, by id.

        If the bytes end the list, its last item is None.
        """
        return wire.unpack_all(records.Resource, self._call(
            context, 'list_resources', pool=pool, marker=marker, limit=limit,
            most_bytes=most_bytes))

    def list_properties(self, context: context.RequestContext, pool: str) -> list[records.Property]:
        """Return the Property records of a pool, private ones included."""
        return wire.unpack_all(records.Property, self._call(
            context, 'list_properties', pool=pool))

    def update_property(self, context: context.RequestContext, pool: str, name: str,
                        private: bool) -> records.Property:
        """Set whether only admins may see a property; return the Property."""
        return wire.unpack(records.Property, self._call(
            context, 'update_property', pool=pool, name=name, private=private))

    def list_allocations(self, context: context.RequestContext, pool: str,
                         resource_id: int | None = None, lease_id: str | None = None,
                         reservation_id: str | None = None
                         ) -> list[tuple[int, list[records.Allocation]]]:
        """Return [(resource id, [Allocation])] of a pool, or of one of its resources."""
        found = self._call(context, 'list_allocations', pool=pool, resource_id=resource_id,
                           lease_id=lease_id, reservation_id=reservation_id)
        return [(each, wire.unpack_all(records.Allocation, items)) for each, items in found]

    def page_of_allocations(self, context: context.RequestContext, pool: str, limit: int,
                            marker: list[int] | None = None, lease_id: str | None = None,
                            reservation_id: str | None = None
                            ) -> tuple[list[tuple[int, list[records.Allocation]]],
                                       list[int] | None]:
        """Return one page of the allocations of a pool.

        :param limit: how many resources, and how many allocations, the page has at most.
        :param marker: where the last page ended; None: the first page.
        :returns: ([(resource id, [Allocation])], the marker of this page or None if it is the last
            one). A resource with many allocations goes on in the next page.
        """
        found, following = self._call(
            context, 'page_of_allocations', pool=pool, limit=limit, marker=marker,
            lease_id=lease_id, reservation_id=reservation_id)
        return [(each, wire.unpack_all(records.Allocation, items))
                for each, items in found], following
