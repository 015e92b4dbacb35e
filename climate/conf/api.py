# SPDX-License-Identifier: Apache-2.0
"""[api]: the REST service."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('api', 'The REST service', (
    cfg.HostAddressOpt('host', default='127.0.0.1',
                       help='Address on which climate-api listens.'),
    cfg.PortOpt('port', default=1234, help='Port on which climate-api listens.'),
    cfg.BoolOpt('chameleon', default=False,
                help='Whether REST 1.0 answers as Chameleon\'s fork of Blazar does where that '
                     'differs from Blazar: a DELETE answers 200 with {} instead of 204, and a '
                     'lease of another project is answered with 403 instead of 404.'),
    cfg.IntOpt('max_requests', default=128, min=1,
               help='Number of requests that one process handles at the same time. Further '
                    'requests are answered with 503 and Retry-After. The requests of Nova\'s '
                    'scheduler are counted separately, with the same limit.'),
    cfg.IntOpt('max_requests_per_project', default=32, min=0,
               help='Number of requests of one project that one process handles at the same time. '
                    'Further requests of that project are answered with 429 and Retry-After, and '
                    'other projects are still served. 0: only max_requests limits them.'),
    cfg.StrOpt('auth_strategy', default='keystone', choices=['keystone', 'http_basic', 'noauth'],
               help='How callers are authenticated. keystone: by a token. http_basic: by a '
                    'password file. noauth: not at all; the token is "user:project:role,role". '
                    'Use noauth for development only.'),
    cfg.StrOpt('http_basic_file', default='/etc/climate/htpasswd',
               help='Password file of http_basic, with lines "user:bcrypt hash". Each user is an '
                    'admin of the project that has the user\'s name.'),
    cfg.IntOpt('max_body_bytes', default=1024 * 1024, min=1024,
               help='Largest body of a request, in bytes. A larger one is answered with 413.'),
    cfg.IntOpt('max_limit', default=1000, min=1, mutable=True,
               help='Largest number of items in one page of a list, from REST 1.1 on.'),
    cfg.IntOpt('max_page_bytes', default=4 * 1024 * 1024, min=1024, mutable=True,
               help='Largest number of bytes that the manager reads for one page of a list, from '
                    'REST 1.1 on. The page ends before the item that would exceed this number, and '
                    'links to the next page. A page has at least one item.'),
    cfg.FloatOpt('delete_wait_seconds', default=30, min=0,
                 help='At REST 1.0, longest time in seconds that DELETE of a running lease waits '
                      'until the resources of the lease are released, before it answers 204. PUT '
                      'waits as long for the start of a lease, before it answers 409. 0: both '
                      'answer at once. The lease shows DELETING until all resources are released.'),
    cfg.IntOpt('delete_waits', default=32, min=0,
               help='Number of DELETE and PUT requests that wait in one process at the same time, '
                    'see delete_wait_seconds. They are not counted in max_requests. Further ones '
                    'are answered at once, and so is a second one for the same lease.'),
    cfg.IntOpt('delete_waits_per_project', default=4, min=0,
               help='Number of DELETE and PUT requests of one project that wait in one process at '
                    'the same time; further ones are answered at once.'),
    cfg.IntOpt('offer_seconds', default=120, min=0, max=86400,
               help='Seconds for which the resources of an offer are held for the project that '
                    'requested the offer. No other project gets them until then. 0: offers are not '
                    'held.'),
    cfg.IntOpt('offers_per_project', default=10, min=0, max=1000,
               help='Number of offers that a project may hold at a time. 0: offers are not held.'),
))
