# SPDX-License-Identifier: Apache-2.0
"""[series]: leases that repeat."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('series', 'Series: leases that repeat', (
    cfg.IntOpt('horizon_days', default=60, min=1, max=730,
               help='Days before its start at which an occurrence of a series is booked. A new '
                    'series books all its occurrences within this time at once.'),
    cfg.IntOpt('max_years', default=2, min=1, max=25,
               help='The maximum number of years from the start of a series to its last '
                    'occurrence.'),
    cfg.IntOpt('max_occurrences', default=500, min=1, max=1000,
               help='The maximum number of occurrences of a series.'),
    cfg.IntOpt('per_project', default=100, min=0,
               help='The maximum number of series of a project that go on. 0: a project cannot '
                    'make any series.'),
    cfg.IntOpt('retry_minutes', default=15, min=1,
               help='Minutes between two tries of an occurrence that could not be booked. It is '
                    'also tried as soon as resources are released.'),
    cfg.IntOpt('request_seconds', default=30, min=1,
               help='Seconds that one request about a series may take. A preview, or a request in '
                    'the mode all_or_nothing, that needs more is refused. Other requests are '
                    'answered then, and a periodic task works on the remaining occurrences. Set it '
                    'shorter than rpc_response_timeout.'),
    cfg.IntOpt('poll_seconds', default=10, min=1,
               help='Seconds between two passes of the manager over the occurrences that are due.'),
))
