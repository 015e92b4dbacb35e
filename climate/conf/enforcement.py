# SPDX-License-Identifier: Apache-2.0
"""[enforcement]: a service outside Climate that allows leases and charges for them."""
from oslo_config import cfg

from climate.conf import group

_CALL = ('URL of the call "%s", if it differs from url and the path of the dialect.')

GROUP = group.Group('enforcement', 'A service that allows leases and charges for them', (
    cfg.StrOpt('driver', default='',
               help='The driver, an entry point of climate.enforcement, such as http. Empty: no '
                    'service is asked.'),
    cfg.StrOpt('dialect', default='blazar', choices=('blazar', 'coral', 'chameleon'),
               help='The format of the calls: blazar, as the external service of Blazar expects '
                    'them; coral, for coral-credits; chameleon, for the portal of Chameleon.'),
    cfg.StrOpt('url', default='', secret=True,
               help='URL to which the paths of the dialect are added, such as '
                    'https://credits.example.org/consumer. A slash at its end makes no '
                    'difference.'),
    cfg.StrOpt('check_create_url', default='', secret=True, help=_CALL % 'check-create'),
    cfg.StrOpt('create_url', default='', secret=True, help=_CALL % 'create'),
    cfg.StrOpt('check_update_url', default='', secret=True, help=_CALL % 'check-update'),
    cfg.StrOpt('update_url', default='', secret=True, help=_CALL % 'update'),
    cfg.StrOpt('on_end_url', default='', secret=True, help=_CALL % 'on-end'),
    cfg.StrOpt('token', default='', secret=True,
               help='Token with which Climate calls the service. Empty: the token of the user who '
                    'makes the request or, if there is none, that of Climate.'),
    cfg.StrOpt('token_header', default='',
               choices=('', 'X-Auth-Token', 'Authorization'),
               help='Header of the token; with Authorization, it is a Bearer token. Empty: '
                    'Authorization for the dialect coral, else X-Auth-Token.'),
    cfg.StrOpt('ca_file', default='',
               help='File with the certificates of the authorities that may have signed the '
                    'certificate of the service. Empty: those of the system.'),
    cfg.IntOpt('timeout_seconds', default=10, min=1, max=60,
               help='Seconds in all for one call: connection, request and answer.'),
    cfg.StrOpt('on_unavailable', default='refuse', choices=('refuse', 'allow'),
               help='The answer to a request if the service does not answer, or answers neither '
                    'yes nor no. refuse: the request is refused with the status 503. allow: the '
                    'lease is made, and the service is called later.'),
    cfg.ListOpt('exempt_projects', default=[],
                help='Ids of projects whose leases are neither asked for nor reported.'),
    cfg.ListOpt('resource_types',
                default=['physical:host', 'virtual:instance', 'flavor:instance'],
                help='Resource types that are reported. A lease without a reservation of these '
                     'types is not asked for.'),
    cfg.ListOpt('resource_classes', default=['VCPU', 'MEMORY_MB', 'DISK_GB'],
                help='Resource classes that the service counts. resource_requests has each of '
                     'them. coral-credits needs all classes of the allocation of an account.'),
    cfg.StrOpt('auth_url', default='',
               help='URL of Keystone that the service reads in each call. Empty: [keystone] '
                    'auth_url.'),
    cfg.StrOpt('region_name', default='',
               help='Region that the service reads in each call. Empty: [DEFAULT] region_name.'),
    cfg.IntOpt('at_once', default=4, min=1,
               help='Number of requests for which one manager asks the service at the same time. '
                    'The same number may wait; further requests are refused with the status '
                    '503.'),
    cfg.IntOpt('retry_longest_seconds', default=600, min=1,
               help='Longest pause, in seconds, between two attempts to report to the service.'),
))
