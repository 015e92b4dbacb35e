# SPDX-License-Identifier: Apache-2.0
"""The hypervisors of the simulated cloud."""
import json

from climate import errors
from climate.cloud import base
from climate.cloud import models

DEFAULT_ZONE = 'nova'
_SIZES = ((16, 64, 500), (32, 128, 1000), (64, 256, 2000))
_TRAITS = ('COMPUTE_NODE', 'HW_CPU_X86_SSE42')
_LARGE_TRAITS = (*_TRAITS, 'HW_CPU_X86_AVX2')
_VERSION = 8002000
BARRED = base.Computes.BARRED


def add_first(connection, count):
    """Create compute-1 to compute-`count`, in three alternating sizes."""
    for number in range(1, count + 1):
        vcpus, memory_gb, disk_gb = _SIZES[(number - 1) % len(_SIZES)]
        add(connection, f'compute-{number}', vcpus=vcpus, memory_mb=memory_gb * 1024,
            disk_gb=disk_gb, traits=_TRAITS if vcpus <= 16 else _LARGE_TRAITS)


def add(connection, name, service_host=None, vcpus=16, memory_mb=65536, disk_gb=500,
        traits=_TRAITS, hypervisor_type='QEMU'):
    """Add a hypervisor; its service host has the same name unless one is given.

    The hypervisors of one service host share its capacity: each counts the servers of all.
    """
    cpu_info = {'arch': 'x86_64', 'vendor': 'Intel', 'model': 'Nehalem',
                'topology': {'sockets': 2, 'cores': max(vcpus // 4, 1), 'threads': 2}}
    connection.execute(
        'INSERT INTO hosts (name, service_host, vcpus, memory_mb, disk_gb, hypervisor_type, '
        'hypervisor_version, cpu_info, traits, up, enabled) '
        'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1)',
        (name, service_host or name, vcpus, memory_mb, disk_gb, hypervisor_type, _VERSION,
         json.dumps(cpu_info, sort_keys=True), json.dumps(sorted(traits))))


def mark(connection, name, up, enabled, reason=None):
    """Set whether a hypervisor is up and enabled; None leaves a value unchanged."""
    changed = connection.execute('UPDATE hosts SET up = coalesce(?, up) WHERE name = ?',
                                 (up, name))
    if changed.rowcount == 0:
        raise errors.ResourceNotFound(pool='host', resource=name)
    if enabled is not None:
        connection.execute(
            'UPDATE hosts SET enabled = ?, barred = NOT ?, reason = ? WHERE name = ?',
            (enabled, enabled, reason, name))


def change(connection, name, vcpus=None, memory_mb=None, disk_gb=None, traits=None):
    """Change the sizes and traits of a hypervisor; None leaves a value unchanged."""
    one(connection, name)
    connection.execute(
        'UPDATE hosts SET vcpus = coalesce(?, vcpus), memory_mb = coalesce(?, memory_mb), '
        'disk_gb = coalesce(?, disk_gb), traits = coalesce(?, traits) WHERE name = ?',
        (vcpus, memory_mb, disk_gb,
         None if traits is None else json.dumps(sorted(traits)), name))


def rehome(connection, name, service_host):
    """Put a hypervisor, with its servers, under another service host."""
    before = one(connection, name)['service_host']
    connection.execute('UPDATE servers SET host = ? WHERE host = ? AND node = ?',
                       (service_host, before, name))
    connection.execute('UPDATE hosts SET service_host = ? WHERE name = ?', (service_host, name))


def remove(connection, name):
    """Delete a hypervisor."""
    connection.execute('DELETE FROM hosts WHERE name = ?', (one(connection, name)['name'],))


def one(connection, name):
    """Return the row of the only hypervisor of that name.

    :raises ResourceNotFound: there is none.
    :raises ResourceAmbiguous: there are several.
    """
    rows = connection.execute('SELECT * FROM hosts WHERE name = ?', (name,)).fetchall()
    if not rows:
        raise errors.ResourceNotFound(pool='host', resource=name)
    if len(rows) > 1:
        raise errors.ResourceAmbiguous(pool='host', resource=name)
    return rows[0]


def by_number(connection, number):
    """Return the row of the hypervisor with this number, which is text.

    :raises ResourceNotFound: there is none.
    """
    row = connection.execute('SELECT * FROM hosts WHERE id = ?', (number,)).fetchone()
    if row is None:
        raise errors.ResourceNotFound(pool='host', resource=number)
    return row


def every(connection):
    """Return the rows of all hypervisors, oldest first."""
    return connection.execute('SELECT * FROM hosts ORDER BY id').fetchall()


def traits(row):
    """Return the traits of a hypervisor."""
    return frozenset(json.loads(row['traits'])) | ({BARRED} if row['barred'] else set())


def is_known(connection, service_host):
    return connection.execute(
        'SELECT 1 FROM hosts WHERE service_host = ?', (service_host,)).fetchone() is not None


def zone_of(connection, service_host):
    """Return the current availability zone of a host."""
    row = connection.execute(
        'SELECT zone FROM aggregates JOIN aggregate_hosts ON aggregate_id = id '
        'WHERE host = ? AND zone IS NOT NULL', (service_host,)).fetchone()
    return row['zone'] if row is not None else DEFAULT_ZONE


def record(connection, row):
    """Return a row as a Hypervisor."""
    return models.Hypervisor(
        name=row['name'], service_host=row['service_host'], vcpus=row['vcpus'],
        memory_mb=row['memory_mb'], disk_gb=row['disk_gb'],
        hypervisor_type=row['hypervisor_type'], hypervisor_version=row['hypervisor_version'],
        cpu_info=row['cpu_info'], availability_zone=zone_of(connection, row['service_host']),
        up=bool(row['up']), enabled=bool(row['enabled']))


# The number of servers with encrypted memory that a hypervisor with AMD SEV can have.
_ENCRYPTED = 2


def inventory(row):
    """Return the inventory of a hypervisor, {resource class: its inventory in Placement}."""
    encrypted = {'MEM_ENCRYPTION_CONTEXT': {**units(_ENCRYPTED), 'max_unit': 1}}
    return {
        **(encrypted if 'HW_CPU_X86_AMD_SEV' in traits(row) else {}),
        'VCPU': units(row['vcpus'], ratio=4.0),
        'MEMORY_MB': units(row['memory_mb'], reserved=512),
        'DISK_GB': units(row['disk_gb']),
    }


def units(total, ratio=1.0, reserved=0):
    """Return the inventory of one resource class."""
    return {'total': total, 'reserved': reserved, 'allocation_ratio': ratio, 'min_unit': 1,
            'max_unit': total, 'step_size': 1}
