# SPDX-License-Identifier: Apache-2.0
"""The client of one reservation service."""
import typing

from keystoneauth1 import adapter

from climate.client import audit
from climate.client import availability
from climate.client import compute
from climate.client import endpoints
from climate.client import energy
from climate.client import hosts
from climate.client import http
from climate.client import leases
from climate.client import limit_books
from climate.client import limits
from climate.client import maintenances
from climate.client import offers
from climate.client import plans
from climate.client import price_books
from climate.client import resources
from climate.client import series
from climate.client import servers
from climate.client import services
from climate.client import shares
from climate.client import statements
from climate.client import sub_leases
from climate.client import subscriptions
from climate.client import transfers
from climate.client import usage


class Client:
    """A client of the reservation service of a cloud, by REST 1.1.

    :param session: a keystoneauth session.
    :param service_type: the type of the service in the catalogue.
    :param interface: public, internal or admin; keystoneauth's default if None.
    :param region_name: the region, if the catalogue has several.
    :param endpoint_override: the URL of the service, instead of the one in the catalogue.
    :param compute_endpoint: the URL of Nova, instead of the one in the catalogue; used for the
        names of servers only.
    :param clock: the clock for waiting; tests pass their own.

    All methods raise only errors of ``climate.client.errors``. Objects are dicts as the service
    sends them; lists are iterators that request the next page when needed.
    """

    def __init__(self, session: typing.Any, *, service_type: str = 'reservation',
                 interface: str | list[str] | None = None, region_name: str | None = None,
                 endpoint_override: str | None = None, compute_endpoint: str | None = None,
                 clock: http.Clock | None = None) -> None:
        transport = adapter.Adapter(
            session, service_type=service_type, interface=interface, region_name=region_name,
            endpoint_override=endpoint_override, client_name='climate-client',
            additional_headers={'OpenStack-API-Version': http.VERSION})
        nova = adapter.Adapter(
            session, service_type='compute', interface=interface, region_name=region_name,
            endpoint_override=compute_endpoint, client_name='climate-client')
        clock = clock or http.Clock()
        self.http = http.Http(transport, clock, lambda: endpoints.of_reservations(transport))
        self.leases = leases.Leases(self.http)
        self.hosts = hosts.Hosts(self.http)
        self.properties = self.hosts.properties
        self.availability = availability.Availability(self.http)
        self.allocations = self.hosts.allocations
        self.servers = servers.Servers(self.leases, compute.Compute(http.Http(
            nova, clock, lambda: endpoints.of_compute(nova, transport))))
        self.maintenances = maintenances.Maintenances(self.http)
        self.audit = audit.Audit(self.http)
        self.energy = energy.Energy(self.http)
        self.limits = limits.Limits(self.http)
        self.offers = offers.Offers(self.http)
        self.plans = plans.Plans(self.http)
        self.series = series.AllSeries(self.http)
        self.subscriptions = subscriptions.Subscriptions(self.http)
        self.services = services.Services(self.http)
        self.shares = shares.Shares(self.http)
        self.transfers = transfers.Transfers(self.http)
        self.sub_leases = sub_leases.SubLeases(self.http)
        self.price_books = price_books.PriceBooks(self.http)
        self.limit_books = limit_books.LimitBooks(self.http)
        self.statements = statements.Statements(self.http)
        self.usage = usage.Usage(self.http)
        self.utilisation = usage.Utilisation(self.http)

    def pool(self, name: str) -> resources.Resources:
        """Return the resources of a pool, such as "host"; the name is checked by the service."""
        return resources.Resources(self.http, name)
