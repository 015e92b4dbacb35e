# SPDX-License-Identifier: Apache-2.0
"""[manager]: the daemon that keeps the promises."""
import copy

from oslo_config import cfg

GROUP = cfg.OptGroup('manager', title='The daemon that keeps the promises')
OPTS = [
    cfg.FloatOpt('poll_seconds', default=5, min=0.05,
                 help='Longest sleep between two looks at the events, in seconds. The daemon '
                      'wakes earlier when an event is due.'),
    cfg.IntOpt('workers', default=16, min=1,
               help='Events that one manager carries out at the same time, each of its own '
                    'lease.'),
    cfg.IntOpt('rpc_workers', default=32, min=1,
               help='Requests of the API that one manager answers at the same time.'),
    cfg.IntOpt('claim_seconds', default=30, min=1,
               help='How long a claim on an event lasts unless it is prolonged, in seconds: so '
                    'long after the death of a manager another one takes its work over.'),
    cfg.IntOpt('event_max_retries', default=5, min=0, max=50,
               help='How often a failed action is tried again before its lease is in error. '
                    '0: never.'),
    cfg.FloatOpt('retry_seconds', default=2, min=0,
                 help='Pause before the first new try of a failed action, in seconds; it doubles '
                      'with each.'),
    cfg.FloatOpt('retry_longest_seconds', default=120, min=0,
                 help='The pause between two tries grows up to this, in seconds.'),
    cfg.IntOpt('heal_seconds', default=60, min=0,
               help='How often the start of a lease that was given up is tried again before its '
                    'end, in seconds: besides whenever somebody gives something back. 0: never.'),
    cfg.FloatOpt('busy_seconds', default=1, min=0,
                 help='Pause between two looks at something that takes its time in the cloud '
                      '(servers that are being deleted, a host that is still held), in seconds.'),
    cfg.IntOpt('busy_limit_seconds', default=600, min=1,
               help='How long such a wait may last, in seconds; then it counts as failed.'),
    cfg.IntOpt('minutes_before_end_lease', default=60, min=0,
               help='How long before its end the before_end_lease event of a lease happens, in '
                    'minutes. 0: no such event.'),
    cfg.IntOpt('cleaning_minutes', default=0, min=0,
               help='Minutes kept free after a lease on the same resource. 0: leases may touch.'),
    cfg.IntOpt('release_grace_seconds', default=60, min=0,
               help='A resource that is still held in the cloud is not given to a lease that '
                    'starts within so many seconds.'),
    cfg.IntOpt('booking_attempts', default=20, min=1,
               help='How often a booking is planned anew when others were faster.'),
    cfg.IntOpt('idempotency_hours', default=24, min=1,
               help='How long an Idempotency-Key is remembered, in hours.'),
    cfg.IntOpt('max_reservations', default=100, min=1,
               help='Most reservations in one lease.'),
    cfg.IntOpt('trust_reaper_seconds', default=600, min=0,
               help='How often trusts that no lease has are looked for, in seconds. One that is '
                    'seen twice is dropped. 0: never.'),
    cfg.IntOpt('refresh_seconds', default=300, min=0,
               help='How often capacity, traits, zone and so on of all enrolled hosts are read '
                    'anew from the cloud, in seconds, by one of the managers. 0: never; what '
                    'was read at the enrolment counts.'),
    cfg.IntOpt('audit_interval_seconds', default=3600, min=0,
               help='How often one of the managers compares the accounts with the cloud, in '
                    'seconds, and logs what is not the same. 0: never.'),
    cfg.IntOpt('audit_grace_seconds', default=120, min=0,
               help='What an audit finds must be there in two looks, so many seconds apart: it '
                    'may be something that is only half done. Longer than rpc_response_timeout. '
                    '0: one look is enough.'),
    cfg.BoolOpt('audit_fix', default=False,
                help='Whether these audits repair what can be repaired without touching a '
                     'server, as "climate-manager audit --fix" does.'),
    cfg.PortOpt('metrics_port', default=0,
                help='Port on which the manager serves /metrics for Prometheus. 0: none.'),
    cfg.HostAddressOpt('metrics_host', default='127.0.0.1',
                       help='Address on which the manager serves /metrics.'),
    cfg.StrOpt('metrics_cert_file',
               help='Certificate of the manager for /metrics, a path; it is served over TLS then. '
                    'Empty: over plain HTTP.'),
    cfg.StrOpt('metrics_key_file',
               help='Key of that certificate, a path. Needed where metrics_cert_file is set.'),
    cfg.StrOpt('metrics_client_ca_file',
               help='Certificates, a path: only those who show one that these have signed may read '
                    '/metrics. Empty: all who reach the port.'),
    cfg.StrOpt('backend', default='threading', choices=['threading', 'eventlet'],
               help='Concurrency of the daemon, through oslo.service. eventlet needs the extra '
                    'climate[eventlet].'),
]


def register(conf):
    # A copy: oslo.config keeps what was set in the group itself.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
