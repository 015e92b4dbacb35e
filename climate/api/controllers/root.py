# SPDX-License-Identifier: Apache-2.0
"""The root of the URL tree."""
import functools

import pecan

from climate import errors
from climate.api import microversion
from climate.api import openapi
from climate.api import os_hosts
from climate.api import serializers
from climate.api.controllers import audit
from climate.api.controllers import availability
from climate.api.controllers import energy
from climate.api.controllers import leases
from climate.api.controllers import limit_books
from climate.api.controllers import limits
from climate.api.controllers import maintenances
from climate.api.controllers import offers
from climate.api.controllers import plans
from climate.api.controllers import price_books
from climate.api.controllers import reservations
from climate.api.controllers import resources
from climate.api.controllers import series
from climate.api.controllers import servers
from climate.api.controllers import services
from climate.api.controllers import statements
from climate.api.controllers import subscriptions
from climate.api.controllers import timeline
from climate.api.controllers import transfers
from climate.api.controllers import usage
from climate.plugins import registry


class RootController:
    """The path /, which lists the served versions to everybody."""

    def __init__(self, parts):
        self.versions = VersionsController()
        self.v1 = V1Controller(parts)

    @pecan.expose('json')
    def index(self, req, resp):
        return _versions(req, resp)


class VersionsController:
    """The path /versions, with the same document as /."""

    @pecan.expose('json')
    def index(self, req, resp):
        return _versions(req, resp)


class V1Controller:
    """The path /v1, with one controller for each noun."""

    def __init__(self, parts):
        self.leases = leases.LeasesController(parts)
        self.reservations = reservations.ReservationsController(parts)
        self.servers = servers.ServersController(parts)
        self.maintenances = maintenances.MaintenancesController(parts)
        self.series = series.SeriesController(parts)
        self.offers = offers.OffersController(parts)
        self.transfers = transfers.TransfersController(parts)
        self.subscriptions = subscriptions.SubscriptionsController(parts)
        self.calendars = subscriptions.CalendarsController(parts)
        self.audit = audit.AuditController(parts)
        self.services = services.ServicesController(parts)
        self.forecast = plans.ForecastController(parts)
        self.availability = availability.AvailabilityController(parts)
        self.timeline = timeline.TimelineController(parts)
        self.usage = usage.UsageController(parts)
        self.utilisation = usage.UtilisationController(parts)
        self.limits = limits.LimitsController(parts)
        self.energy = energy.EnergyController(parts)
        self.resources = resources.ResourcesController(parts)
        self._plugins = parts.plugins
        self.statements = statements.StatementsController(parts)
        # These names have dashes, so they cannot be written as attributes.
        setattr(self, 'what-if', plans.WhatIfController(parts))
        setattr(self, 'price-books', price_books.PriceBooksController(parts))
        setattr(self, 'limit-books', limit_books.LimitBooksController(parts))
        setattr(self, 'os-hosts', resources.PoolController(parts, os_hosts.HostSerializer()))
        for path, pool in registry.views_of(parts.pools).items():
            setattr(self, path, resources.ViewController(
                parts, serializers.ViewSerializer(pool)))

    @pecan.expose()
    def _lookup(self, name, *rest):
        types = registry.types_by_path().get(name)
        if types and not hasattr(self, name):
            raise errors.NotFound(
                f'/v1/{name} needs {" or ".join(types)}, which this cloud does not enable: '
                'administrators add it to [DEFAULT] plugins.')

    @pecan.expose('json')
    def openapi(self, req, resp):
        return self._document

    @functools.cached_property
    def _document(self):
        return openapi.document(self._plugins)


def _versions(req, resp):
    resp.status = 300
    return {'versions': [{
        'id': 'v1.0', 'status': 'CURRENT', 'min_version': str(microversion.MINIMUM),
        'max_version': str(microversion.MAXIMUM),
        'links': [{'rel': 'self', 'href': f'{req.application_url}/v1'}]}]}
