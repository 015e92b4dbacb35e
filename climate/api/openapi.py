# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document, from the operations that each controller declares for its paths."""
from climate import version
from climate.api import pool_paths
from climate.api import reservation_schemas
from climate.api.chameleon import paths as chameleon_paths
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
from climate.api.controllers import series
from climate.api.controllers import servers
from climate.api.controllers import services
from climate.api.controllers import statements
from climate.api.controllers import subscriptions
from climate.api.controllers import timeline
from climate.api.controllers import transfers
from climate.api.controllers import usage

_MODULES = (offers, transfers, subscriptions, maintenances, reservations, servers, availability,
            plans, timeline, usage, energy, limits, limit_books, price_books, statements, audit,
            services)


def document(plugins):
    """Build the document of the newest REST version.

    :param plugins: {resource type: plugin class}; each adds the schemas of its reservations.
    :returns: a JSON-ready dict.
    """
    paths = leases.paths(plugins) | series.paths(plugins)
    for module in _MODULES:
        paths |= module.PATHS
    return {
        'openapi': '3.1.0',
        'info': {'title': 'Climate', 'version': version.text(),
                 'description': 'Reservations of OpenStack resources.'},
        'servers': [{'url': '/v1'}],
        'security': [{'token': []}],
        'paths': {**paths, **pool_paths.of(plugins),
                  **chameleon_paths.of(plugins)},
        'components': {
            'schemas': reservation_schemas.components(plugins),
            'securitySchemes': {'token': {'type': 'apiKey', 'in': 'header',
                                          'name': 'X-Auth-Token'}},
        },
    }
