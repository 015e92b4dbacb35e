# SPDX-License-Identifier: Apache-2.0
"""The rows of the volumes of the simulated Cinder, and the end of their changes."""
import json
import uuid

from climate.cloud import models
from climate.cloud import volume_models
from climate.cloud.simulated import storage_services
from climate.domain import cloud_objects

SERVICE_PROJECT = 'service'
TABLES = (
    """CREATE TABLE IF NOT EXISTS backends (
        name TEXT PRIMARY KEY, backend_name TEXT NOT NULL, total_gb TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS volume_types (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, is_public INTEGER NOT NULL,
        extra_specs TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS volume_type_access (
        type_name TEXT NOT NULL, project_id TEXT NOT NULL, PRIMARY KEY (type_name, project_id))""",
    """CREATE TABLE IF NOT EXISTS volume_quotas (
        project_id TEXT NOT NULL, name TEXT NOT NULL, most INTEGER NOT NULL,
        PRIMARY KEY (project_id, name))""",
    """CREATE TABLE IF NOT EXISTS volumes (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, size_gb INTEGER NOT NULL, status TEXT NOT NULL,
        project_id TEXT NOT NULL, type_name TEXT NOT NULL, backend TEXT, metadata TEXT NOT NULL,
        server_id TEXT, image_key TEXT, due REAL, becomes TEXT, about TEXT)""",
    """CREATE TABLE IF NOT EXISTS volume_snapshots (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, volume_id TEXT NOT NULL,
        project_id TEXT NOT NULL, status TEXT NOT NULL)""",
    *storage_services.TABLES,
    # A new simulated cloud has two back ends for leases on one machine, and an ordinary one.
    """INSERT INTO backends SELECT * FROM (VALUES ('storage@ssd#ssd', 'ssd', '200'),
        ('storage@hdd#hdd', 'hdd', '500'), ('ordinary@plain#plain', 'plain', '1000'))
        WHERE NOT EXISTS (SELECT 1 FROM backends)""",
    """INSERT OR IGNORE INTO volume_types VALUES
        ('00000000-0000-4000-8000-000000000001', 'ordinary', 1,
         '{"volume_backend_name": "plain"}')""",
)
#: The default quotas, as in a new Cinder.
QUOTAS = {'gigabytes': 1000, 'volumes': 10, 'snapshots': 10}
#: The value of `becomes` for a volume that is being deleted.
GONE = 'gone'


def settle(connection, now):
    """Complete the changes of volumes that are due, except on back ends that are down."""
    down = storage_services.down(connection)
    for row in connection.execute(
            'SELECT * FROM volumes WHERE due <= ? ORDER BY rowid', (now,)).fetchall():
        if row['backend'] is not None and storage_services.service_host(row['backend']) in down:
            continue
        if row['status'] == 'uploading':
            connection.execute("UPDATE images SET status = 'active' WHERE id = ?", (row['about'],))
        if row['status'] == 'retyping':
            _retype(connection, row)
        if row['becomes'] == GONE:
            connection.execute('DELETE FROM volume_snapshots WHERE volume_id = ?', (row['id'],))
            connection.execute('DELETE FROM volumes WHERE id = ?', (row['id'],))
            continue
        status = row['becomes']
        if row['status'] == 'creating':
            status = _place(connection, row)
        put(connection, row['id'], status=status, due=None, becomes=None, about=None,
            server_id=row['server_id'] if status == 'in-use' else None)
    # Nova detaches the volumes of a server that it deletes.
    connection.execute(
        "UPDATE volumes SET status = 'available', server_id = NULL WHERE status = 'in-use' "
        'AND server_id NOT IN (SELECT id FROM servers)')


def begin(connection, volume_id, status, becomes, due, about=None, **columns):
    """Begin a change of a volume: its status, and the one that it has when the change is due."""
    put(connection, volume_id, status=status, becomes=becomes, due=due, about=about, **columns)


def put(connection, volume_id, **columns):
    """Write these columns of a volume."""
    names = ', '.join(f'{name} = ?' for name in columns)
    connection.execute(f'UPDATE volumes SET {names} WHERE id = ?', (*columns.values(), volume_id))


def find(connection, volume_id, project_id=None):
    """Return the row of a volume, or None; the volume of another project is not found."""
    row = connection.execute('SELECT * FROM volumes WHERE id = ?', (volume_id,)).fetchone()
    return row if row is not None and project_id in (None, row['project_id']) else None


def rows(connection):
    """Return the rows of all volumes, oldest first."""
    return connection.execute('SELECT * FROM volumes ORDER BY rowid').fetchall()


def record(connection, row):
    """Return a row as a Volume."""
    return volume_models.Volume(
        id=row['id'], name=row['name'], size_gb=row['size_gb'], status=row['status'],
        project_id=row['project_id'], type_name=row['type_name'],
        server_ids=() if row['server_id'] is None else (row['server_id'],), backend=row['backend'],
        zone=zone_of(connection, row['backend']))


def find_type(connection, name, project_id=None):
    """Return the row of the type that a project may use, or None. None: an administrator."""
    return connection.execute(
        'SELECT * FROM volume_types WHERE name = ? AND (is_public OR ? IS NULL OR name IN '
        '(SELECT type_name FROM volume_type_access WHERE project_id = ?))',
        (name, project_id, project_id)).fetchone()


def add_type(connection, name, extra_specs, is_public):
    """Add a volume type."""
    connection.execute('INSERT OR IGNORE INTO volume_types VALUES (?, ?, ?, ?)',
                       (str(uuid.uuid4()), name, is_public, json.dumps(dict(extra_specs))))


def used_gb(connection, backend):
    """Return the gigabytes of all volumes on a back end."""
    return connection.execute('SELECT coalesce(sum(size_gb), 0) FROM volumes WHERE backend = ?',
                              (backend,)).fetchone()[0]


def quotas(connection, project_id):
    """Return {name: Quota} of a project: the default ones, and those that were set."""
    limits = {**QUOTAS, **{row['name']: row['most'] for row in connection.execute(
        'SELECT name, most FROM volume_quotas WHERE project_id = ?', (project_id,))}}
    return {name: models.Quota(None if most < 0 else most, _used(connection, project_id, name))
            for name, most in limits.items()}


def _used(connection, project_id, name):
    unit, _, type_name = name.partition('_')
    if unit == 'snapshots':
        return connection.execute('SELECT count(*) FROM volume_snapshots WHERE project_id = ?',
                                  (project_id,)).fetchone()[0]
    counted = 'count(*)' if unit == 'volumes' else 'coalesce(sum(size_gb), 0)'
    return connection.execute(
        f"SELECT {counted} FROM volumes WHERE project_id = ? AND ? IN ('', type_name)",
        (project_id, type_name)).fetchone()[0]


def _place(connection, row):
    """Give a new volume a back end of its type; return its new status."""
    backend = _backend(connection, row['type_name'], row['size_gb'])
    if backend is None:
        return 'error'
    put(connection, row['id'], backend=backend)
    return 'available'


def zone_of(connection, backend):
    """Return the zone of a back end; the default zone if there is none."""
    return storage_services.zone_of(connection, storage_services.service_host(backend or ''))


def _retype(connection, row):
    """Move a volume to the requested type; it stays as it is if no back end has the capacity."""
    backend = _backend(connection, row['about'], row['size_gb'], row['backend'])
    if backend is not None:
        put(connection, row['id'], type_name=row['about'], backend=backend)


def _backend(connection, type_name, size_gb, present=None):
    """Return the name of the back end for a volume of a type, or None if none has the capacity.

    :param present: the back end on which the volume is already.
    """
    row = find_type(connection, type_name)
    specs = json.loads(row['extra_specs']) if row else {}
    backend_name = specs.get(cloud_objects.BACKEND_SPEC)
    zones = specs.get(cloud_objects.ZONES_SPEC, zone_of(connection, present)).split(',')
    free, open_hosts = {}, storage_services.open_hosts(connection)
    for row in connection.execute('SELECT * FROM backends ORDER BY name').fetchall():
        name = row['name']
        if backend_name not in (None, row['backend_name']):
            continue
        if name == present:
            return present
        if (storage_services.service_host(name) not in open_hosts
                or zone_of(connection, name) not in zones):
            continue
        free_gb = float(row['total_gb'].replace('unknown', 'inf')) - used_gb(connection, name)
        if free_gb >= size_gb:
            free[name] = free_gb
    return max(free, key=free.get, default=None)
