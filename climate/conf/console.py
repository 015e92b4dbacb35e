# SPDX-License-Identifier: Apache-2.0
"""[console]: the pages for browsers."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('console', 'The console: pages for browsers', (
    cfg.HostAddressOpt('host', default='127.0.0.1',
                       help='Address on which climate-console listens.'),
    cfg.PortOpt('port', default=1236, help='Port on which climate-console listens.'),
    cfg.IntOpt('threads', default=16, min=2,
               help='Number of requests that one console handles at the same time. One user gets '
                    'at most a quarter of them.'),
    cfg.URIOpt('auth_url', default='http://127.0.0.1:5000/v3', schemes=['http', 'https'],
               help='URL of Keystone, to which users log in.'),
    cfg.StrOpt('cafile', help='File with the certificates of the authorities that signed those of '
                              'Keystone and climate-api. Not set: those of the system.'),
    cfg.StrOpt('interface', default='public', choices=['public', 'internal', 'admin'],
               help='Which endpoint of the reservation service is taken from the catalog.'),
    cfg.URIOpt('endpoint_override', schemes=['http', 'https'],
               help='URL of climate-api, instead of the one in the catalog.'),
    cfg.StrOpt('default_domain', default='Default',
               help='The domain that the login page suggests.'),
    cfg.IntOpt('session_minutes', default=720, min=1,
               help='Minutes after which a user must log in again. A session also ends with its '
                    'token.'),
    cfg.IntOpt('answer_seconds', default=60, min=1,
               help='Seconds that the console waits for climate-api and Keystone.'),
    cfg.IntOpt('max_body_bytes', default=256 * 1024, min=1024,
               help='Largest body of a request, in bytes. A larger one is answered with 413.'),
))
