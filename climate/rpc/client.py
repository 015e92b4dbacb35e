# SPDX-License-Identifier: Apache-2.0
"""The client of the manager for the API: one method for each RPC method, with records."""
# mypy: disable-error-code="empty-body"
from collections.abc import Callable
from collections.abc import Mapping
import functools
import inspect
from typing import Any
from typing import Protocol
from typing import TypeVar

from climate import context
from climate.domain import audit
from climate.domain import availability
from climate.domain import energy
from climate.domain import facets
from climate.domain import forecast
from climate.domain import heartbeat
from climate.domain import latest_end
from climate.domain import losses
from climate.domain import maintenance_windows
from climate.domain import notifications
from climate.domain import prices
from climate.domain import records
from climate.domain import shares
from climate.domain import sub_leases
from climate.domain import subscriptions
from climate.domain import timeline
from climate.domain import transfers
from climate.domain import usability
from climate.domain import usage_groups
from climate.domain import utilisation
from climate.domain import what_if
from climate.domain.limits import limit_reports
from climate.domain.limits import rules as limit_rules
from climate.domain.series import series_records
from climate.rpc import wire

Context = context.RequestContext
_Class = TypeVar('_Class')


class RpcCaller(Protocol):
    """The connection to a manager: a Bus, or the manager itself in the same process."""

    def call(self, context: Context, method: str, timeout: float | None = None,
             **arguments: Any) -> Any:
        """Call an RPC method. Its arguments and its result are records, packed or not."""


def _remote(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that calls the RPC method of the same name and unpacks the answer."""
    _self, _context, *parameters = inspect.signature(method).parameters.values()
    names = [parameter.name for parameter in parameters]
    defaults = {parameter.name: parameter.default for parameter in parameters
                if parameter.default is not parameter.empty}

    @functools.wraps(method)
    def call(self: 'ManagerClient', context: Context, *args: Any, **kwargs: Any) -> Any:
        # A manager of the earlier release does not know new arguments. It can carry out the call if
        # they have their defaults.
        arguments = {name: value for name, value in (
            *zip(names, args, strict=False), *kwargs.items())
            if name not in defaults or value != defaults[name]}
        return wire.answer_reader(method)(self._call(context, method.__name__, **arguments))

    return call


def _all_remote(cls: type[_Class]) -> type[_Class]:
    """Make the public methods of a class, which have no bodies, call RPC methods."""
    for name, method in list(vars(cls).items()):
        if not name.startswith('_'):
            setattr(cls, name, _remote(method))
    return cls


@_all_remote
class ManagerClient:
    """The client of a manager. Each public method declares an RPC method and has no body.

    The answer is unpacked into records by the return annotation of the method.

    :param bus: a Bus, or the manager itself in the same process.
    """

    def __init__(self, bus: RpcCaller) -> None:
        self._call = bus.call

    def ping(self, context: Context, timeout: float | None = None) -> dict[str, str]:
        """Return {"database": "ok"} if a manager answers and reaches its database."""

    def create_lease(self, context: Context, lease_id: str,
                     request: records.LeaseRequest) -> records.Lease:
        """Create a lease with the id `lease_id`; return the Lease."""

    def update_lease(self, context: Context, lease_id: str,
                     changes: records.LeaseChanges) -> records.Lease:
        """Change a lease; return the Lease."""

    def delete_lease(self, context: Context, lease_id: str) -> bool:
        """Delete a lease; return False while its resources are still being released."""

    def preview_deletion(self, context: Context, lease_id: str) -> list[losses.Loss]:
        """Return the Losses if a lease were deleted now. Nothing is changed."""

    def price_deletion(self, context: Context, lease_id: str) -> prices.LeasePrice | None:
        """Return the price if the caller deleted a lease now; None: it costs nothing."""

    def give_back_lease(self, context: Context, lease_id: str, hosts: int | None = None,
                        generation: int | None = None, dry_run: bool = False) -> records.Lease:
        """Give a future lease, or hosts of it, back for waiting leases; return the Lease.

        :param hosts: the number of hosts; None: the whole lease.
        :param generation: refuse if the lease has changed since it had this generation.
        """

    def preview_swap(self, context: Context, lease_id: str, resource: str,
                     reservation_id: str | None = None) -> records.Lease:
        """Return the Lease as it would be after `swap_resource`, with its losses."""

    def swap_resource(self, context: Context, lease_id: str, resource: str,
                      reservation_id: str | None = None, *,
                      by_admin: bool = False) -> records.Lease:
        """Swap a resource of a running lease for another one; return the Lease.

        :param resource: the name or id of the resource.
        :param reservation_id: the reservation that has the resource; None: only one has it.
        :param by_admin: the caller is an administrator, so the resource goes into quarantine.
        """

    def get_lease(self, context: Context, lease_id: str) -> records.Lease:
        """Return a Lease, even if it is deleted."""

    def share_lease(self, context: Context, lease_id: str,
                    request: shares.ShareRequest) -> shares.Share:
        """Share a lease with another project or user; return the Share."""

    def preview_share_withdrawal(self, context: Context, lease_id: str,
                                 share_id: str) -> shares.Withdrawal:
        """Return the Withdrawal that `withdraw_share` would make now. Nothing is changed."""

    def withdraw_share(self, context: Context, lease_id: str, share_id: str,
                       left: bool = False) -> shares.Withdrawal:
        """Withdraw a share of a lease; return the Withdrawal.

        :param left: whether the receiver leaves the lease.
        """

    def offer_transfer(self, context: Context, lease_id: str,
                       request: transfers.TransferRequest) -> transfers.NewTransfer:
        """Offer a lease to another project; return the NewTransfer, with its key if it has one."""

    def list_lease_transfers(self, context: Context, lease_id: str) -> list[transfers.Transfer]:
        """Return the Transfers of a lease, the oldest first."""

    def withdraw_transfer(self, context: Context, lease_id: str,
                          transfer_id: str) -> transfers.Transfer:
        """Withdraw an offer of a lease; return the Transfer."""

    def list_transfers(self, context: Context) -> list[transfers.Transfer]:
        """Return the open Transfers to the project of the caller, the oldest first."""

    def preview_transfer(self, context: Context, transfer_id: str,
                         key: str | None = None) -> transfers.TransferPreview:
        """Return a Transfer to the caller, with the lease that the caller would get."""

    def accept_transfer(self, context: Context, transfer_id: str, key: str | None = None,
                        generation: int | None = None, dry_run: bool = False) -> records.Lease:
        """Accept an offer; return the new Lease of the caller.

        :param generation: the generation of the offered lease that the caller has seen.
        """

    def decline_transfer(self, context: Context, transfer_id: str,
                         key: str | None = None) -> transfers.Transfer:
        """Decline an offer as its receiver; return the Transfer."""

    def create_sub_lease(self, context: Context, lease_id: str, new_id: str,
                         request: sub_leases.SubLeaseRequest) -> records.Lease:
        """Create a sub-lease of a lease with the id `new_id`; return the Lease."""

    def free_hosts(self, context: Context, lease_id: str, start: records.Moment | None,
                   end: records.Moment | None) -> list[sub_leases.FreeHost]:
        """Return the FreeHosts of a lease for a sub-lease, by name; see SubLeaseRequest."""

    def latest_end(self, context: Context, lease_id: str) -> latest_end.LatestEnd:
        """Return the latest end to which a lease can be extended, and the obstacles after it."""

    def lease_history(self, context: Context, lease_id: str, marker: int | None = None,
                      limit: int | None = None,
                      most_bytes: int | None = None) -> list[records.HistoryLine]:
        """Return the history of a lease, as HistoryLines in order.

        :param marker: only lines after the line with this id; None: from the beginning.
        :param limit: the maximum number of lines; None: all.
        :param most_bytes: the maximum number of bytes. If this limit ends the list, its last item
            is None.
        """

    def list_leases(self, context: Context, query: records.LeaseQuery) -> list[records.Lease]:
        """Return the Leases that a LeaseQuery selects.

        If the bytes of the query end the list, its last item is None.
        """

    def reservation_hosts(self, context: Context, reservation_id: str,
                          project_id: str) -> usability.Usability:
        """Return the current Usability of a reservation for a project."""

    def server_hosts(self, context: Context, server_id: str,
                     project_id: str) -> usability.Usability:
        """Return the current Usability, for a project, of the reservation of a server."""

    def get_lease_of_reservation(self, context: Context, reservation_id: str) -> records.Lease:
        """Return the Lease of a reservation, even if it is deleted."""

    def bind_reservation(self, context: Context, reservation_id: str,
                         leased_id: str) -> records.Lease:
        """Bind a reservation to its target; return the Lease."""

    def get_offer(self, context: Context, offer_id: str) -> records.Offer:
        """Return an Offer that the caller's project holds."""

    def list_offers(self, context: Context) -> list[records.Offer]:
        """Return the Offers that the caller's project holds, by expiry."""

    def delete_offer(self, context: Context, offer_id: str) -> None:
        """Release an offer."""

    def create_subscription(self, context: Context, request: subscriptions.SubscriptionRequest
                            ) -> subscriptions.Subscription:
        """Create a subscription of the caller; return the Subscription."""

    def get_subscription(self, context: Context,
                         subscription_id: str) -> subscriptions.Subscription:
        """Return a Subscription of any user."""

    def list_subscriptions(self, context: Context, query: subscriptions.SubscriptionQuery
                           ) -> list[subscriptions.Subscription]:
        """Return the Subscriptions that a SubscriptionQuery selects, the oldest first.

        If the bytes of the query end the list, its last item is None.
        """

    def update_subscription(self, context: Context, subscription_id: str,
                            changes: subscriptions.SubscriptionChanges
                            ) -> subscriptions.Subscription:
        """Change a subscription; return the Subscription."""

    def delete_subscription(self, context: Context, subscription_id: str) -> None:
        """Delete a subscription with its log."""

    def test_subscription(self, context: Context,
                          subscription_id: str) -> subscriptions.Subscription:
        """Order a test of a subscription. The log of the subscription will have the result."""

    def subscription_log(self, context: Context, subscription_id: str, marker: int | None = None,
                         limit: int | None = None,
                         most_bytes: int | None = None) -> list[notifications.Delivery]:
        """Return the Deliveries of a subscription, the newest first.

        If the bytes end the list, its last item is None.
        """

    def get_calendar(self, context: Context, secret_hash: str) -> subscriptions.LeaseCalendar:
        """Return the LeaseCalendar whose secret has the SHA-256 `secret_hash`."""

    def find_availability(self, context: Context,
                          query: availability.AvailabilityQuery) -> availability.AvailabilityAnswer:
        """Return the ``AvailabilityAnswer`` to an ``availability.AvailabilityQuery``."""

    def find_facets(self, context: Context, query: facets.FacetQuery) -> facets.FacetAnswer:
        """Return the ``FacetAnswer`` to a ``facets.FacetQuery``."""

    def pool_calendar(self, context: Context, pool: str, start: records.Moment | None,
                      end: records.Moment | None, limit: int) -> list[availability.CalendarSpan]:
        """Return the first `limit` CalendarSpans of a pool between two moments.

        :param start: None: now.
        :param end: None: a month after the start.
        """

    def copies_calendar(self, context: Context, request: records.ReservationRequest,
                        start: records.Moment | None, end: records.Moment | None,
                        limit: int) -> list[availability.CalendarSpan]:
        """Return the first `limit` CalendarSpans of the copies of a reservation that could be had.

        The moments are those of `pool_calendar`.

        :param request: a request for an amount, such as one instance of a flavor.
        """

    def kinds_calendar(self, context: Context, resource_type: str, start: records.Moment | None,
                       end: records.Moment | None, limit: int) -> list[availability.KindCalendar]:
        """Return a KindCalendar for each kind of a type, such as each flavor, by the kind.

        The moments are those of `pool_calendar`. The list ends when it has `limit` CalendarSpans.
        """

    def what_if(self, context: Context, question: what_if.WhatIfQuestion) -> what_if.WhatIfAnswer:
        """Return the ``what_if.WhatIfAnswer`` to a ``what_if.WhatIfQuestion``."""

    def forecast(self, context: Context, query: forecast.ForecastQuery) -> forecast.ForecastAnswer:
        """Return the ``forecast.ForecastAnswer`` to a ``forecast.ForecastQuery``."""

    def create_series(self, context: Context, series_id: str,
                      request: series_records.SeriesRequest) -> series_records.Series:
        """Create a series with the id `series_id`; return the Series with its occurrences."""

    def preview_series(self, context: Context, request: series_records.SeriesRequest
                       ) -> series_records.SeriesPreview:
        """Return what each occurrence of a series would get. Nothing is changed."""

    def get_series(self, context: Context, series_id: str) -> series_records.Series:
        """Return a Series with the occurrences that are planned so far."""

    def list_series(self, context: Context, query: series_records.SeriesQuery
                    ) -> list[series_records.Series]:
        """Return the Series that a SeriesQuery selects, without their occurrences.

        If the bytes of the query end the list, its last item is None.
        """

    def update_series(self, context: Context, series_id: str,
                      changes: series_records.SeriesChanges) -> series_records.Series:
        """Change a series, or split it; return the changed Series with its occurrences."""

    def preview_series_update(self, context: Context, series_id: str,
                              changes: series_records.SeriesChanges
                              ) -> series_records.SeriesPreview:
        """Return what each changed occurrence would get. Nothing is changed."""

    def cancel_series(self, context: Context, series_id: str, scope: str,
                      number: int | None = None) -> None:
        """Cancel the occurrences of a scope.

        :param number: the number of the occurrence, unless the scope is all.
        """

    def create_maintenance(self, context: Context, request: maintenance_windows.MaintenanceRequest
                           ) -> maintenance_windows.Maintenance:
        """Plan or preview a maintenance; return the Maintenance with the leases that it affects."""

    def list_maintenances(self, context: Context, marker: str | None = None,
                          limit: int | None = None,
                          most_bytes: int | None = None) -> list[maintenance_windows.Maintenance]:
        """Return the Maintenances that are not over, by start.

        If the bytes end the list, its last item is None.

        :param marker: the list begins after this id; None: with the first maintenance.
        """

    def get_maintenance(self, context: Context,
                        maintenance_id: str) -> maintenance_windows.Maintenance:
        """Return a Maintenance with the leases that it affects."""

    def delete_maintenance(self, context: Context, maintenance_id: str) -> None:
        """Delete a maintenance."""

    def report_usage(self, context: Context,
                     query: usage_groups.UsageQuery) -> usage_groups.UsageReport:
        """Return the ``usage_groups.UsageReport`` that answers a ``usage_groups.UsageQuery``."""

    def report_utilisation(self, context: Context,
                           query: utilisation.UtilisationQuery) -> utilisation.UtilisationAnswer:
        """Return the ``utilisation.UtilisationAnswer`` to a ``utilisation.UtilisationQuery``."""

    def report_limits(self, context: Context, project_id: str,
                      user_id: str | None, see_private: bool) -> limit_reports.LimitReport:
        """Return the ``limit_reports.LimitReport`` of a project, and of a user unless None.

        :param see_private: whether the caller may see private properties in criteria.
        """

    def report_energy(self, context: Context, query: energy.EnergyQuery) -> energy.EnergyAnswer:
        """Return the ``energy.EnergyAnswer`` to an ``energy.EnergyQuery``."""

    def get_timeline(self, context: Context, query: timeline.TimelineQuery) -> timeline.Timeline:
        """Return the ``timeline.Timeline`` that answers a ``timeline.TimelineQuery``."""

    def count_changes(self, context: Context) -> int:
        """Return the number of changes that REST shows (``db.changes``)."""

    def create_price_book(self, context: Context, valid_from: records.Moment | None,
                          document: Mapping[str, Any]) -> prices.StoredBook:
        """Add a version of the price book; return the StoredBook.

        :param valid_from: None: now.
        """

    def list_price_books(self, context: Context) -> list[prices.StoredBook]:
        """Return the versions of the price book, in the order in which they become valid."""

    def get_price_book(self, context: Context, version: int | None) -> prices.StoredBook:
        """Return a version of the price book; None: the version that is valid now."""

    def create_limit_book(self, context: Context, valid_from: records.Moment | None,
                          document: Mapping[str, Any]) -> limit_rules.StoredLimitBook:
        """Add a version of the limit book; return the StoredLimitBook.

        :param valid_from: None: now.
        """

    def list_limit_books(self, context: Context) -> list[limit_rules.StoredLimitBook]:
        """Return the versions of the limit book, in the order in which they become valid."""

    def get_limit_book(self, context: Context,
                       version: int | None) -> limit_rules.StoredLimitBook:
        """Return a version of the limit book; None: the version that is valid now."""

    def list_statements(self, context: Context,
                        query: prices.StatementQuery) -> list[prices.Statement]:
        """Return the Statements that a StatementQuery selects, by month and project."""

    def list_statement_lines(self, context: Context,
                             query: prices.StatementQuery) -> list[prices.StatementLine]:
        """Return the StatementLines that a StatementQuery selects."""

    def get_audit(self, context: Context) -> audit.Result | None:
        """Return the ``audit.Result`` of the newest audit of the managers; None: there is none."""

    def list_services(self, context: Context) -> list[heartbeat.Service]:
        """Return the Services by their ids."""

    def create_resource(self, context: Context, pool: str, name: str,
                        properties: Mapping[str, str | None],
                        fields: Mapping[str, Any] | None = None) -> records.Resource:
        """Enrol a resource in `pool` with {property: text}; return the Resource.

        :param name: '' if the pool needs no name.
        :param fields: further fields that the pool needs, {field: value}.
        """

    def create_resources(self, context: Context, pool: str, name: str,
                         properties: Mapping[str, str | None],
                         fields: Mapping[str, Any] | None = None) -> list[records.Resource]:
        """Enrol all resources of a range, or none of them; return the Resources, by id.

        The parameters are those of `create_resource`.
        """

    def update_resource(self, context: Context, pool: str, resource_id: int,
                        properties: Mapping[str, str | None], reservable: bool | None = None,
                        out_of_order: str | None = None) -> records.Resource:
        """Change a resource, completely or not at all; return the Resource.

        :param properties: {property: text, or None to remove the property}.
        :param reservable: whether the resource can be leased; None: no change.
        :param out_of_order: why the resource is out of service; '': it is healthy; None: no change.
        """

    def set_out_of_order(self, context: Context, pool: str, resource_id: int,
                         reason: str) -> records.Resource:
        """Take a resource out of service for `reason`; return the Resource.

        :param reason: '': the resource is healthy again.
        """

    def set_power(self, context: Context, pool: str, resource_id: int,
                  awake: bool) -> records.Resource:
        """Wake a resource that sleeps, or put it to sleep; return the Resource."""

    def delete_resource(self, context: Context, pool: str, resource_id: int) -> None:
        """Withdraw a resource from its pool."""

    def preview_withdrawal(self, context: Context, pool: str, resource_id: int) -> None:
        """Check whether a resource can be withdrawn now. Nothing is changed."""

    def get_resource(self, context: Context, pool: str, resource_id: int) -> records.Resource:
        """Return one Resource."""

    def get_resources(self, context: Context, pool: str, ids: list[int]) -> list[records.Resource]:
        """Return the Resources of a pool that have these ids, by id."""

    def list_resources(self, context: Context, pool: str, marker: int | None = None,
                       limit: int | None = None, most_bytes: int | None = None,
                       query: records.ResourceQuery | None = None) -> list[records.Resource]:
        """Return the Resources of a pool that a query selects, by id; None: all.

        If the bytes end the list, its last item is None.
        """

    def list_properties(self, context: Context, pool: str) -> list[records.Property]:
        """Return the Property records of a pool, including private ones."""

    def update_property(self, context: Context, pool: str, name: str,
                        private: bool) -> records.Property:
        """Set whether only admins may see a property; return the Property."""

    def list_allocations(self, context: Context, pool: str, resource_id: int | None = None,
                         lease_id: str | None = None, reservation_id: str | None = None
                         ) -> list[tuple[int, list[records.Allocation]]]:
        """Return [(resource id, [Allocation])] of a pool, or of one of its resources."""

    def page_of_allocations(self, context: Context, pool: str, limit: int,
                            marker: list[int] | None = None, lease_id: str | None = None,
                            reservation_id: str | None = None
                            ) -> tuple[list[tuple[int, list[records.Allocation]]],
                                       list[int] | None]:
        """Return one page of the allocations of a pool.

        :param limit: the maximum number of resources, and of allocations, in the page.
        :param marker: the marker of the previous page; None: the first page.
        :returns: ([(resource id, [Allocation])], the marker of this page or None if it is the last
            page). The allocations of a resource may continue on the next page.
        """
