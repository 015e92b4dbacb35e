# SPDX-License-Identifier: Apache-2.0
"""[manager]: the daemon that carries out the leases."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('manager', 'The daemon that carries out the leases', (
    cfg.FloatOpt('poll_seconds', default=5, min=0.05,
                 help='Longest pause between two polls for due events, in seconds. The daemon '
                      'polls earlier if it knows that an event is due.'),
    cfg.IntOpt('workers', default=16, min=1,
               help='Number of events that one manager carries out at the same time, at most one '
                    'for each lease.'),
    cfg.IntOpt('rpc_workers', default=32, min=1,
               help='Number of requests of the API that one manager handles at the same time.'),
    cfg.IntOpt('claim_seconds', default=30, min=1,
               help='Seconds after which a claim on an event expires unless it is prolonged. If a '
                    'manager dies, another one takes over its events after this time.'),
    cfg.IntOpt('clock_jump_seconds', default=60, min=0,
               help='Largest accepted difference in seconds between the clock of the database and '
                    'the time that a manager expects from its own clocks. While the database is '
                    'further ahead, the manager starts and ends no lease. It continues when the '
                    'difference is gone, when the clock of its machine has agreed with the '
                    'database for this number of seconds, or after "climate-db confirm-clock". 0: '
                    'every time is accepted.'),
    cfg.IntOpt('event_max_retries', default=5, min=0, max=50,
               help='Number of retries of a failed action before its lease is in error. '
                    '0: no retry.'),
    cfg.FloatOpt('retry_seconds', default=2, min=0,
                 help='Seconds before the first retry of a failed action. The pause doubles with '
                      'each retry.'),
    cfg.FloatOpt('retry_longest_seconds', default=120, min=0,
                 help='Longest pause between two retries of a failed action, in seconds.'),
    cfg.IntOpt('outage_seconds', default=600, min=0,
               help='Minimum time in seconds, from the first try, for which an action such as a '
                    'start is retried if services of the cloud are down or busy. event_max_retries '
                    'limits only the retries after a service has refused the action. Set it longer '
                    'than the restart of a service takes. The end of a lease has no limit.'),
    cfg.IntOpt('heal_seconds', default=60, min=0,
               help='Shortest pause in seconds before another attempt to start or change a lease '
                    'after the attempt and its retries failed. The pause grows to a thirtieth of '
                    'the time since the first attempt, but not beyond heal_longest_seconds. '
                    'Released resources cause an attempt at once. heal_most_seconds limits the '
                    'time of further attempts to start. 0: no further attempts; then the lease '
                    'keeps its resources until its end.'),
    cfg.IntOpt('heal_longest_seconds', default=3600, min=0,
               help='Longest pause before another attempt to start or change a lease (see '
                    'heal_seconds), in seconds.'),
    cfg.IntOpt('heal_most_seconds', default=86400, min=0,
               help='Seconds after the first attempt to start a lease at which the reservations '
                    'that still cannot be started end. Otherwise they would hold resources that '
                    'are neither used nor billed. They do not end while a service of the cloud is '
                    'down. 0: further attempts are made until the lease ends.'),
    cfg.BoolOpt('take_back_partial_starts', default=True,
                help='What happens if the reservations of a lease depend on each other, and the '
                     'start of one of them fails with all its retries. True: the lease ends at '
                     'once, so that no part of it runs alone. False: the started reservations '
                     'stay, and further attempts are made to start the others (see heal_seconds).'),
    cfg.FloatOpt('busy_seconds', default=1, min=0,
                 help='Seconds between two checks of an asynchronous change in the cloud, such as '
                      'the deletion of servers or the release of a host.'),
    cfg.IntOpt('busy_limit_seconds', default=600, min=1,
               help='Seconds after which an asynchronous change in the cloud counts as failed.'),
    cfg.IntOpt('minutes_before_end_lease', default=60, min=0,
               help='Minutes before the end of a lease at which its before_end_lease event '
                    'happens. 0: no such event.'),
    cfg.IntOpt('cleaning_minutes', default=0, min=0,
               help='Minutes for which a resource stays free after a lease. 0: the next lease may '
                    'start at once.'),
    cfg.IntOpt('release_grace_seconds', default=60, min=0,
               help='A lease that starts within this many seconds does not get a resource that '
                    'another lease still holds in the cloud. 0: it may get one.'),
    cfg.IntOpt('stage_seconds', default=600, min=0,
               help='Seconds before the start of a lease at which the managers begin to create '
                    'objects that nobody can use before the start, such as its flavor and its '
                    'aggregate, so that the start itself makes few calls. For leases that start at '
                    'the same time, the creations are spread over this time. 0: all objects are '
                    'created at the start.'),
    cfg.IntOpt('cloud_answer_seconds', default=20, min=0,
               help='Longest time in seconds for all calls of the cloud during one request of the '
                    'API. After that the request is answered with a 503 that names the service. '
                    'Set it shorter than rpc_response_timeout. 0: no limit.'),
    cfg.IntOpt('booking_attempts', default=20, min=1,
               help='Number of attempts to book resources for a request while concurrent requests '
                    'book the chosen resources first.'),
    cfg.IntOpt('idempotency_hours', default=24, min=1,
               help='Hours for which an Idempotency-Key is stored.'),
    cfg.IntOpt('max_reservations', default=100, min=1,
               help='Largest number of reservations in one lease.'),
    cfg.IntOpt('max_slots', default=1000, min=1,
               help='Largest number of slots that one lease may have on shared resources, in all '
                    'its reservations. A slot is the capacity of one instance. Whole hosts do not '
                    'count. A lease that has more already keeps them.'),
    cfg.IntOpt('max_parts', default=2000, min=0,
               help='Number of parts at which a running lease can no longer be changed, except its '
                    'name and to an earlier end. A lease has one part for each resource and each '
                    'period in which it had the same copies of it, and one for each addition of a '
                    'resource or of time by a change. Bills need all parts. 0: no limit.'),
    cfg.IntOpt('request_bytes_per_project', default=64 * 1024 * 1024, min=0,
               help='Largest number of bytes that the requests of the leases and offers of one '
                    'project may have in the database. A reservation counts as the size of its '
                    'request, with templates and files, plus 1 KiB. An event counts as 256 bytes. '
                    'A lease that has ended counts for one more day. 0: no limit.'),
    cfg.IntOpt('nearest_minutes', default=15, min=0, max=1440,
               help='The answer to a refused request has the nearest time at which it fits. For '
                    'callers who may not read operators\' texts, Climate tries only multiples of '
                    'this number of minutes, counted from 00:00 UTC. So the time does not reveal '
                    'exactly when a host becomes free. 0: it is exact.'),
    cfg.IntOpt('trust_reaper_seconds', default=600, min=0,
               help='Seconds between two searches for trusts of this database that no lease has, '
                    'and for server groups that an interrupted request left behind. Both are '
                    'deleted when they are ten minutes old. 0: never.'),
    cfg.IntOpt('refresh_seconds', default=300, min=0,
               help='Seconds between two updates of the capacity, traits, zone and other facts of '
                    'all enrolled hosts from the cloud, by one of the managers. 0: never; the '
                    'facts read at the enrolment stay.'),
    cfg.IntOpt('audit_interval_seconds', default=3600, min=0,
               help='Seconds between two audits, in which one of the managers compares the '
                    'database with the cloud and logs the differences. 0: never.'),
    cfg.IntOpt('audit_grace_seconds', default=120, min=0,
               help='Seconds between the two comparisons of an audit. Only a difference that both '
                    'find counts, because the other ones may be changes in progress. Make it '
                    'longer than rpc_response_timeout. 0: one comparison is enough.'),
    cfg.BoolOpt('audit_fix', default=False,
                help='Whether periodic audits repair what can be repaired without touching a '
                     'server, as "climate-manager audit --fix" does.'),
    cfg.PortOpt('metrics_port', default=0,
                help='Port on which the manager serves /metrics for Prometheus. 0: none.'),
    cfg.HostAddressOpt('metrics_host', default='127.0.0.1',
                       help='Address on which the manager serves /metrics.'),
    cfg.StrOpt('metrics_cert_file',
               help='Path of the certificate with which the manager serves /metrics over TLS. '
                    'Empty: it uses plain HTTP.'),
    cfg.StrOpt('metrics_key_file',
               help='Path of the key of metrics_cert_file, which needs it.'),
    cfg.StrOpt('metrics_client_ca_file',
               help='Path of CA certificates. Only clients with a certificate signed by one of '
                    'them may read /metrics. Empty: every client may.'),
    cfg.StrOpt('backend', default='threading', choices=['threading', 'eventlet'],
               help='Concurrency backend of oslo.service for the daemon. eventlet needs the extra '
                    'climate[eventlet].'),
))
