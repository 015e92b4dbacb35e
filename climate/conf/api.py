# SPDX-License-Identifier: Apache-2.0
"""[api]: the REST service."""
import copy

from oslo_config import cfg

GROUP = cfg.OptGroup('api', title='The REST service')
OPTS = [
    cfg.HostAddressOpt('host', default='127.0.0.1',
                       help='Address on which climate-api listens.'),
    cfg.PortOpt('port', default=1234, help='Port on which climate-api listens.'),
    cfg.IntOpt('max_requests', default=128, min=1,
               help='Requests that one process works on at the same time; most of that time they '
                    'wait for a manager. One beyond them is answered 503 with Retry-After.'),
    cfg.StrOpt('auth_strategy', default='keystone', choices=['keystone', 'http_basic', 'noauth'],
               help='How callers prove who they are. keystone: tokens. http_basic: a password '
                    'file. noauth: the token is believed, "user:project:role,role"; for '
                    'development only.'),
    cfg.StrOpt('http_basic_file', default='/etc/climate/htpasswd',
               help='The password file of http_basic, lines "user:bcrypt hash". Each user is an '
                    'admin of a project that has the user\'s name.'),
    cfg.IntOpt('max_body_bytes', default=1024 * 1024, min=1024,
               help='Largest body of a request, in bytes; a larger one is answered 413.'),
    cfg.IntOpt('max_limit', default=1000, min=1,
               help='Most items in one page of a list, from REST 1.1 on.'),
    cfg.FloatOpt('delete_wait_seconds', default=30, min=0,
                 help='How long DELETE of a running lease waits for the teardown before it '
                      'answers 204, in seconds. 0: it answers at once, and the lease shows '
                      'DELETING until all is given back.'),
    cfg.IntOpt('offer_seconds', default=120, min=0, max=86400,
               help='How long what is offered to a project that asks what is available is held for '
                    'it, in seconds. Until then nobody else gets it. 0: offers are not held.'),
    cfg.IntOpt('offers_per_project', default=10, min=0, max=1000,
               help='How many offers a project may hold at a time. 0: offers are not held.'),
]


def register(conf):
    # A copy: oslo.config keeps what was set in the group itself.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
