# SPDX-License-Identifier: Apache-2.0
"""The leases of a Blazar that is replaced: in every state, of every type, with servers.

The hours of a PlannedLease count from the creation of the fleet. Leases of whole hosts have
compute1 and compute2, sized leases have compute3, and leases of flavors have compute4, because
Blazar does not mix types on one host.
"""
import dataclasses

NOW, NEXT, LATER, FAR = (0, 3), (3.1, 4), (4.1, 5), (100, 101)
#: {name of a host: its properties}
HOSTS = {
    'compute1': {'role': 'whole', 'pair': 'no'}, 'compute2': {'role': 'whole', 'pair': 'yes'},
    'compute3': {'role': 'sized', 'pair': 'yes'}, 'compute4': {'role': 'flavors', 'pair': 'no'}}
FLAVOR = 'leasable'
TRAIT = 'CUSTOM_LEASABLE_BY_FLAVOR'
ADDRESSES = tuple(f'172.24.4.{number}' for number in range(204, 210))
REQUIRED = ADDRESSES[-1]


@dataclasses.dataclass(frozen=True)
class PlannedLease:
    """A lease that Blazar is asked for.

    :ivar reservations: as in requests.
    :ivar hours: (start, end); a start of 0 means now.
    """

    name: str
    reservations: tuple
    hours: tuple = NOW
    person: str = 'demo'


@dataclasses.dataclass(frozen=True)
class Crash:
    """The rows that a crash of Blazar leaves.

    :ivar start, end: the statuses of the events; None means that they are missing.
    """

    status: str
    reservation: str
    start: str | None
    end: str | None


#: Blazar had written the lease, but not its events.
CREATING = Crash('CREATING', 'pending', None, None)
STARTING = Crash('STARTING', 'pending', 'IN_PROGRESS', 'UNDONE')
UPDATING = Crash('UPDATING', 'active', 'DONE', 'UNDONE')
UPDATING_PENDING = Crash('UPDATING', 'pending', 'UNDONE', 'UNDONE')
TERMINATING = Crash('TERMINATING', 'active', 'DONE', 'IN_PROGRESS')
DELETING = Crash('DELETING', 'active', 'DONE', 'IN_PROGRESS')


def host(name, **more):
    """A reservation of the host of that name."""
    return {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'resource_properties': '',
            'hypervisor_properties': f'["==", "$hypervisor_hostname", "{name}"]', **more}


def sized(amount=1, affinity=None, where='["==", "$role", "sized"]'):
    """A reservation of instances."""
    return {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 64, 'disk_gb': 1,
            'amount': amount, 'affinity': affinity,
            'resource_properties': where}


def flavor(flavor_id, amount=1):
    return {'resource_type': 'flavor:instance', 'flavor_id': flavor_id, 'amount': amount,
            'affinity': None}


def address(network_id, *required):
    return {'resource_type': 'virtual:floatingip', 'network_id': network_id, 'amount': 1,
            'required_floatingips': list(required)}


def over(flavor_id, network_id):
    """Return the PlannedLeases that end before the others are created."""
    return [
        PlannedLease('host-over', (host('compute2'),)),
        PlannedLease('sized-over', (sized(),)),
        PlannedLease('flavor-over', (flavor(flavor_id),)),
        PlannedLease('address-over', (address(network_id),)),
    ]


def all_leases(flavor_id, network_id):
    """Return the PlannedLeases."""
    def flavors(amount=1):
        return flavor(flavor_id, amount)

    def addresses(*required):
        return address(network_id, *required)

    pair = sized(2, affinity=False, where='["==", "$pair", "yes"]')
    return [
        PlannedLease('host-run', (host('compute1'),)),
        PlannedLease('host-images', (host('compute2', before_end='snapshot'),)),
        PlannedLease('sized-run', (sized(2),)),
        PlannedLease('sized-together', (sized(2, affinity=True),)),
        PlannedLease('sized-apart', (sized(1, affinity=False),)),
        PlannedLease('flavor-run', (flavors(2),)),
        PlannedLease('address-run', (addresses(),)),
        PlannedLease('mixed', (sized(), addresses())),
        PlannedLease('of-alt', (sized(),), person='alt'),
        # For crashes.
        PlannedLease('sized-deleting', (sized(),)),
        PlannedLease('sized-terminating', (sized(),)),
        PlannedLease('sized-updating', (sized(),)),
        PlannedLease('sized-started', (sized(),)),
        PlannedLease('flavor-deleting', (flavors(),)),
        PlannedLease('address-terminating', (addresses(),)),
        PlannedLease('address-started', (addresses(),)),
        PlannedLease('sized-starting', (sized(),), NEXT),
        PlannedLease('flavor-starting', (flavors(),), NEXT),
        PlannedLease('sized-creating', (sized(),), NEXT),
        PlannedLease('host-updating', (host('compute2'),), FAR),
        # Their aggregates are deleted.
        PlannedLease('sized-broken', (sized(),), NEXT),
        PlannedLease('flavor-broken', (flavors(),), NEXT),
        # For later.
        PlannedLease('host-next', (host('compute2'),), NEXT),
        PlannedLease('host-later', (host('compute1'),), (4.1, 12)),
        PlannedLease('sized-next', (sized(2),), (3.1, 12)),
        PlannedLease('sized-next-together', (sized(2, affinity=True),), NEXT),
        PlannedLease('sized-later-apart', (pair,), LATER),
        PlannedLease('flavor-next', (flavors(2),), (3.1, 12)),
        PlannedLease('address-next', (addresses(REQUIRED),), NEXT),
        PlannedLease('address-later', (addresses(),), LATER),
        PlannedLease('of-alt-next', (sized(),), NEXT, 'alt'),
        PlannedLease('a "name"\twith a tab', (sized(),), NEXT),
        # They are deleted before they start.
        PlannedLease('host-far', (host('compute1'),), FAR),
        PlannedLease('hosts-far', (host('compute3', max=2, hypervisor_properties=''),),
                     (110, 111)),
        PlannedLease('sized-far', (pair,), (120, 121)),
        PlannedLease('flavor-far', (flavors(),), FAR),
        PlannedLease('address-far', (addresses(),), FAR),
        # Two leases of one host at the same time.
        PlannedLease('doubled-first', (host('compute1'),), (130, 131)),
        PlannedLease('doubled-second', (host('compute1'),), (140, 141)),
    ]


#: {name of a lease: the rows that a crash leaves of it}
CRASHES = {
    'sized-deleting': DELETING, 'flavor-deleting': DELETING,
    'sized-terminating': TERMINATING, 'address-terminating': TERMINATING,
    'sized-updating': UPDATING, 'host-updating': UPDATING_PENDING,
    'sized-started': STARTING, 'address-started': STARTING,
    'sized-starting': STARTING, 'flavor-starting': STARTING,
    'sized-creating': CREATING,
}
OVER = ('host-over', 'sized-over', 'flavor-over', 'address-over')
#: Those that start in Blazar, and stay active until it stops.
ACTIVE = ('host-run', 'host-images', 'sized-run', 'sized-together', 'sized-apart', 'flavor-run',
          'address-run', 'mixed', 'of-alt', 'sized-deleting', 'sized-terminating',
          'sized-updating', 'sized-started', 'flavor-deleting', 'address-terminating',
          'address-started')
BROKEN = ('sized-broken', 'flavor-broken')
#: Those on which a server runs at the switch, and goes on.
RUNNING = ('host-run', 'host-images', 'sized-run', 'sized-together', 'sized-apart', 'flavor-run',
           'of-alt', 'sized-updating')
#: Those on which a server runs at the switch.
WITH_SERVER = (*RUNNING, 'sized-deleting', 'sized-terminating')
