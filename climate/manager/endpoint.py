# SPDX-License-Identifier: Apache-2.0
"""The RPC methods of a manager: each calls one use case, with records.

The serializer of the bus packs the results.
"""
import contextlib
import functools
import inspect

from oslo_log import log
import oslo_messaging as messaging

from climate import errors
from climate.cloud import call_guard
from climate.db import leases
from climate.domain import records
from climate.manager import change_counts
from climate.manager import heartbeats
from climate.manager import owner_names
from climate.manager.audit import schedule as audit_schedule
from climate.manager.billing import biller
from climate.manager.billing import books
from climate.manager.booking import availability_finder
from climate.manager.booking import facet_counts
from climate.manager.booking import offers
from climate.manager.booking import pool_calendar
from climate.manager.energy import report as energy_reports
from climate.manager.leases import create
from climate.manager.leases import delete
from climate.manager.leases import draft
from climate.manager.leases import give_back
from climate.manager.leases import latest_ends
from climate.manager.leases import read
from climate.manager.leases import reservation_hosts
from climate.manager.leases import sub_leasing
from climate.manager.leases import swap
from climate.manager.leases import targets
from climate.manager.leases import update
from climate.manager.limits import books as limit_books
from climate.manager.limits import reports as limit_reports
from climate.manager.maintenance import maintenances
from climate.manager.notifications import limit_notices
from climate.manager.notifications import subscriptions
from climate.manager.planning import forecast
from climate.manager.planning import plan_turns
from climate.manager.planning import what_if
from climate.manager.pools import allocations
from climate.manager.pools import properties
from climate.manager.pools import resources
from climate.manager.pools import timeline
from climate.manager.pools import withdrawal
from climate.manager.series import cancel as series_cancel
from climate.manager.series import change as series_change
from climate.manager.series import create as series_create
from climate.manager.series import read as series_read
from climate.manager.shares import sharing
from climate.manager.transfers import accepting
from climate.manager.transfers import offering
from climate.manager.usage import reports
from climate.rpc import client
from climate.rpc import transport
from climate.rpc import wire

LOG = log.getLogger(__name__)


def _called_by_rpc(method):
    """Return the method for calls by RPC: its ClimateErrors have no traceback in the log.

    The annotations of the client's method of the same name determine how arguments are unpacked.
    All cloud calls of the method share one time limit, because the caller waits for the answer. If
    the request exceeds a limit of the project, the subscriptions of the project are notified.
    """
    readers = wire.argument_readers(getattr(client.ManagerClient, method.__name__))

    def limited(self, context, **packed):
        arguments = {name: readers[name](value) if name in readers else value
                     for name, value in packed.items()}
        seconds = self._core.conf.manager.cloud_answer_seconds
        try:
            with call_guard.answered_within(seconds):
                return method(self, context, **arguments)
        except errors.LimitReached as error:
            if isinstance(error, errors.LimitExceeded):
                self._core.counts.limit_refusal(error.kwargs['measure'])
            limit_notices.report_reached(self._core, _owner(
                self._core, arguments.get('lease_id'), context), error)
            raise
    wrapped = messaging.expected_exceptions(errors.ClimateError)(limited)
    return functools.wraps(method)(wrapped)


def _owner(core, lease_id, context):
    """Return the project whose limit a request has reached: that of its lease, or the caller's.

    Others may change a lease by a share, and administrators may change every lease.
    """
    if lease_id is not None:
        with contextlib.suppress(errors.LeaseNotFound), core.database.reader() as connection:
            return leases.get(connection, lease_id).project_id
    return context.project_id


def _all_called_by_rpc(endpoint):
    for name, method in inspect.getmembers(endpoint, inspect.isfunction):
        if not name.startswith('_'):
            setattr(endpoint, name, _called_by_rpc(method))
    return endpoint


@_all_called_by_rpc
class Endpoint:
    """The RPC endpoint: one method for each method of `climate.rpc.client.ManagerClient`.

    :param login: the Login of the manager, which `ping` checks; None if there is no login.
    """

    target = messaging.Target(version=transport.VERSION)

    def __init__(self, core, login=None):
        self._core = core
        self._login = login
        self._create = create.Create(core)
        self._owners = owner_names.OwnerNames(core)
        self._read = read.Read(core)
        self._update = update.Update(core)
        self._delete = delete.Delete(core)
        self._give_back = give_back.GiveBack(core)
        self._swap = swap.Swap(core)
        self._sharing = sharing.Sharing(core)
        self._offering = offering.Offering(core)
        self._accepting = accepting.Accepting(core)
        self._sub_leasing = sub_leasing.SubLeasing(core)
        self._latest_ends = latest_ends.LatestEnds(core)
        self._create_series = series_create.CreateSeries(core)
        self._change_series = series_change.ChangeSeries(core)
        self._cancel_series = series_cancel.CancelSeries(core)
        self._read_series = series_read.ReadSeries(core)
        self._maintenances = maintenances.MaintenanceRequests(core)
        self._reservations = reservation_hosts.ReservationHosts(core)
        self._targets = targets.Targets(core)
        self._resources = resources.ResourceRequests(core)
        self._withdrawals = withdrawal.Withdrawals(core)
        self._properties = properties.Properties(core)
        self._allocations = allocations.AllocationLists(core)
        self._counts = change_counts.ChangeCounts()
        self._timelines = timeline.Timelines(core, self._counts)
        self._offers = offers.HeldOffers(core)
        self._subscriptions = subscriptions.SubscriptionRequests(core)
        self._facets = facet_counts.FacetCounts(core)
        self._calendar = pool_calendar.PoolCalendar(core)
        plans = plan_turns.PlanTurns()
        self._forecasts = forecast.Forecasts(core, plans)
        self._what_if = what_if.WhatIfAnswers(core, plans)
        self._books = books.Books(core)
        self._limit_books = limit_books.LimitBooks(core)
        self._finder = availability_finder.AvailabilityFinder(core, draft.Drafts(core).draft)

    def ping(self, context):
        with self._core.database.reader() as connection:
            connection.exec_driver_sql('SELECT 1')
        if self._login is not None:
            self._login.check()
        return {'database': 'ok'}

    def create_lease(self, context, lease_id, request):
        # The names are stored first, so that no failure can follow the creation of the lease.
        self._owners.remember(context)
        return owner_names.by_caller(context, self._create.create(context, lease_id, request))

    def update_lease(self, context, lease_id, changes):
        self._owners.remember(context)
        return self._read.named(self._update.update(context, lease_id, changes))

    def delete_lease(self, context, lease_id):
        return self._delete.delete(context, lease_id)

    def preview_deletion(self, context, lease_id):
        return self._delete.preview(lease_id)

    def price_deletion(self, context, lease_id):
        return self._delete.price(context, lease_id)

    def give_back_lease(self, context, lease_id, hosts=None, generation=None, dry_run=False):
        self._owners.remember(context)
        return self._read.named(self._give_back.give_back(
            context, lease_id, hosts, generation, dry_run))

    def preview_swap(self, context, lease_id, resource, reservation_id=None):
        return self._swap.preview(context, lease_id, resource, reservation_id)

    def swap_resource(self, context, lease_id, resource, reservation_id=None, by_admin=False):
        return self._read.named(self._swap.swap(
            context, lease_id, resource, reservation_id, by_admin=by_admin))

    def share_lease(self, context, lease_id, request):
        self._owners.remember(context)
        return self._sharing.share(context, lease_id, request)

    def preview_share_withdrawal(self, context, lease_id, share_id):
        return self._sharing.preview(lease_id, share_id)

    def withdraw_share(self, context, lease_id, share_id, left=False):
        self._owners.remember(context)
        return self._sharing.withdraw(context, lease_id, share_id, left)

    def offer_transfer(self, context, lease_id, request):
        self._owners.remember(context)
        return self._offering.offer(context, lease_id, request)

    def list_lease_transfers(self, context, lease_id):
        return self._offering.of_lease(lease_id)

    def withdraw_transfer(self, context, lease_id, transfer_id):
        return self._offering.withdraw(context, lease_id, transfer_id)

    def list_transfers(self, context):
        return self._offering.offered_to(context)

    def preview_transfer(self, context, transfer_id, key=None):
        return self._accepting.preview(context, transfer_id, key)

    def accept_transfer(self, context, transfer_id, key=None, generation=None, dry_run=False):
        self._owners.remember(context)
        return owner_names.by_caller(context, self._accepting.accept(
            context, transfer_id, key, generation, dry_run))

    def decline_transfer(self, context, transfer_id, key=None):
        return self._offering.decline(context, transfer_id, key)

    def create_sub_lease(self, context, lease_id, new_id, request):
        return self._sub_leasing.create(context, lease_id, new_id, request)

    def free_hosts(self, context, lease_id, start, end):
        return self._sub_leasing.free_hosts(lease_id, start, end)

    def latest_end(self, context, lease_id):
        return self._latest_ends.find(context, lease_id)

    def get_lease(self, context, lease_id):
        return self._read.get(lease_id)

    def lease_history(self, context, lease_id, marker=None, limit=None, most_bytes=None):
        return self._read.history(lease_id, marker, limit, most_bytes)

    def list_leases(self, context, query):
        return self._read.find(query)

    def reservation_hosts(self, context, reservation_id, project_id):
        return self._reservations.hosts(reservation_id, project_id)

    def server_hosts(self, context, server_id, project_id):
        return self._reservations.hosts_of_server(server_id, project_id)

    def get_lease_of_reservation(self, context, reservation_id):
        return self._reservations.lease(reservation_id)

    def bind_reservation(self, context, reservation_id, leased_id):
        return self._targets.bind(context, reservation_id, leased_id)

    def get_offer(self, context, offer_id):
        return self._offers.get(context, offer_id)

    def list_offers(self, context):
        return self._offers.find(context)

    def delete_offer(self, context, offer_id):
        self._offers.delete(context, offer_id)

    def create_subscription(self, context, request):
        return self._subscriptions.create(context, request)

    def get_subscription(self, context, subscription_id):
        return self._subscriptions.get(subscription_id)

    def list_subscriptions(self, context, query):
        return self._subscriptions.find(query)

    def update_subscription(self, context, subscription_id, changes):
        return self._subscriptions.update(subscription_id, changes)

    def delete_subscription(self, context, subscription_id):
        self._subscriptions.delete(subscription_id)

    def test_subscription(self, context, subscription_id):
        return self._subscriptions.test(subscription_id)

    def subscription_log(self, context, subscription_id, marker=None, limit=None,
                         most_bytes=None):
        return self._subscriptions.log(subscription_id, marker, limit, most_bytes)

    def get_calendar(self, context, secret_hash):
        return self._subscriptions.calendar(secret_hash)

    def find_availability(self, context, query):
        return self._finder.find(context, query)

    def find_facets(self, context, query):
        return self._facets.find(context, query)

    def pool_calendar(self, context, pool, start, end, limit):
        return self._calendar.find(pool, start, end, limit)

    def copies_calendar(self, context, request, start, end, limit):
        return self._calendar.find_copies(context, request, start, end, limit)

    def kinds_calendar(self, context, resource_type, start, end, limit):
        return self._calendar.find_kinds(context, resource_type, start, end, limit)

    def what_if(self, context, question):
        return self._what_if.answer(question)

    def forecast(self, context, query):
        return self._forecasts.find(query)

    def create_series(self, context, series_id, request):
        self._owners.remember(context)
        return self._create_series.create(context, series_id, request)

    def preview_series(self, context, request):
        return self._create_series.preview(context, request)

    def get_series(self, context, series_id):
        return self._read_series.get(series_id)

    def list_series(self, context, query):
        return self._read_series.find(query)

    def update_series(self, context, series_id, changes):
        self._owners.remember(context)
        return self._change_series.change(context, series_id, changes)

    def preview_series_update(self, context, series_id, changes):
        return self._change_series.preview(context, series_id, changes)

    def cancel_series(self, context, series_id, scope, number=None):
        self._cancel_series.cancel(context, series_id, scope, number)

    def create_maintenance(self, context, request):
        return self._maintenances.create(context, request)

    def list_maintenances(self, context, marker=None, limit=None, most_bytes=None):
        return self._maintenances.find(marker, limit, most_bytes)

    def get_maintenance(self, context, maintenance_id):
        return self._maintenances.get(maintenance_id)

    def delete_maintenance(self, context, maintenance_id):
        self._maintenances.delete(maintenance_id)

    def report_usage(self, context, query):
        return reports.usage(self._core, query)

    def report_utilisation(self, context, query):
        return reports.pool_utilisation(self._core, query)

    def report_energy(self, context, query):
        return energy_reports.energy_report(self._core, query)

    def report_limits(self, context, project_id, user_id, see_private):
        return limit_reports.report(self._core, context, project_id, user_id, see_private)

    def get_timeline(self, context, query):
        return self._timelines.find(query)

    def count_changes(self, context):
        with self._core.database.reader() as connection:
            return self._counts.read(connection)

    def create_price_book(self, context, valid_from, document):
        return self._books.create(context, valid_from, document)

    def list_price_books(self, context):
        return self._books.find()

    def get_price_book(self, context, version):
        return self._books.get(version)

    def create_limit_book(self, context, valid_from, document):
        return self._limit_books.create(context, valid_from, document)

    def list_limit_books(self, context):
        return self._limit_books.find()

    def get_limit_book(self, context, version):
        return self._limit_books.get(version)

    def list_statements(self, context, query):
        return biller.find_statements(self._core, query)

    def list_statement_lines(self, context, query):
        return biller.find_lines(self._core, query)

    def get_audit(self, context):
        return audit_schedule.newest(self._core)

    def list_services(self, context):
        return heartbeats.services(self._core)

    def create_resource(self, context, pool, name, properties, fields=None):
        return self._resources.enrol(pool, name, properties, fields)

    def create_resources(self, context, pool, name, properties, fields=None):
        return self._resources.enrol_range(pool, name, properties, fields)

    def update_resource(self, context, pool, resource_id, properties, reservable=None,
                        out_of_order=None):
        return self._resources.update(pool, resource_id, properties, reservable, out_of_order)

    def set_out_of_order(self, context, pool, resource_id, reason):
        # The API of an earlier release calls this method.
        return self._resources.update(pool, resource_id, {}, None, reason)

    def set_power(self, context, pool, resource_id, awake):
        return self._resources.set_power(pool, resource_id, awake)

    def delete_resource(self, context, pool, resource_id):
        self._withdrawals.withdraw(pool, resource_id)

    def preview_withdrawal(self, context, pool, resource_id):
        self._withdrawals.preview(pool, resource_id)

    def get_resource(self, context, pool, resource_id):
        return self._resources.get(pool, resource_id)

    def get_resources(self, context, pool, ids):
        return self._resources.with_ids(pool, ids)

    def list_resources(self, context, pool, marker=None, limit=None, most_bytes=None, query=None):
        return self._resources.find(pool, marker, limit, most_bytes, query)

    def list_properties(self, context, pool):
        return self._properties.find(pool)

    def update_property(self, context, pool, name, private):
        return self._properties.set_private(pool, name, private)

    def list_allocations(self, context, pool, resource_id=None, lease_id=None,
                         reservation_id=None):
        return self._allocations.find(
            records.AllocationQuery(pool, lease_id, reservation_id), resource_id)

    def page_of_allocations(self, context, pool, limit, marker=None, lease_id=None,
                            reservation_id=None):
        return self._allocations.page(
            records.AllocationQuery(pool, lease_id, reservation_id), limit, marker)


class InProcess:
    """Calls a manager in the same process without a bus, for `climate-standalone` and tests."""

    def __init__(self, endpoint):
        self._endpoint = endpoint

    def call(self, context, method, timeout=None, **arguments):
        try:
            return getattr(self._endpoint, method)(context, **arguments)
        except messaging.ExpectedException as expected:
            raise expected.exc_info[1] from None
        except Exception as error:  # Hide unexpected errors from the caller, as the bus does.
            LOG.exception('Call %s failed', method)
            raise errors.ClimateError() from error
