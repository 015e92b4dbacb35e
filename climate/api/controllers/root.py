# SPDX-License-Identifier: Apache-2.0
"""The tree of URLs."""
import pecan

from climate.api import microversion
from climate.api import openapi
from climate.api.controllers import availability
from climate.api.controllers import hosts
from climate.api.controllers import leases
from climate.api.controllers import offers
from climate.api.controllers import reservations
from climate.api.controllers import servers
from climate.api.controllers import services


class RootController:
    """/ and /versions: which versions are served; anybody may ask."""

    def __init__(self, parts):
        self.versions = VersionsController()
        self.v1 = V1Controller(parts)

    @pecan.expose('json')
    def index(self, req, resp):
        return _versions(req, resp)


class VersionsController:
    """/versions, the same document as /."""

    @pecan.expose('json')
    def index(self, req, resp):
        return _versions(req, resp)


class V1Controller:
    """/v1: one controller a noun."""

    def __init__(self, parts):
        self.leases = leases.LeasesController(parts)
        self.reservations = reservations.ReservationsController(parts)
        self.servers = servers.ServersController(parts)
        self.offers = offers.OffersController(parts)
        self.services = services.ServicesController(parts)
        self.availability = availability.AvailabilityController(parts)
        self.document = openapi.document(parts.plugins)
        # The names with a dash cannot be attributes that one writes.
        setattr(self, 'os-hosts', hosts.HostsController(parts))

    @pecan.expose('json')
    def openapi(self, req, resp):
        return self.document


def _versions(req, resp):
    resp.status = 300
    return {'versions': [{
        'id': 'v1.0', 'status': 'CURRENT', 'min_version': str(microversion.MINIMUM),
        'max_version': str(microversion.MAXIMUM),
        'links': [{'rel': 'self', 'href': f'{req.application_url}/v1'}]}]}
