# SPDX-License-Identifier: Apache-2.0
"""The images of servers in the simulated cloud."""
import uuid

from climate.cloud import base
from climate.cloud import models
from climate.cloud.simulated import interface

SNAPSHOT = 'snapshot'
#: The kind of the image of a shelved server.
SHELVED = 'shelved'
#: The project of images that an administrator made.
SERVICE_PROJECT = 'service'
UPLOADING = 'image_uploading'
#: The faults of images: refused at once; deleted when the upload fails; never active.
REFUSED, LOST, STUCK = FAULTS = ('refused', 'lost', 'stuck')


class SimulatedImages(interface.SimulatedInterface, base.Images):
    """Glance under one identity."""

    def made(self, key, project_id):
        return self._admin_call('images', lambda connection: [
            models.Image(id=row['id'], name=row['name'], status=row['status'],
                         owner=row['project_id'], server_id=row['server_id'])
            for row in connection.execute(
                'SELECT * FROM images WHERE key = ? AND project_id IN (?, ?) ORDER BY rowid',
                (key, project_id, SERVICE_PROJECT))])

    def give(self, image_id, project_id):
        self._admin_call('give', lambda connection: connection.execute(
            'UPDATE images SET project_id = ? WHERE id = ?', (project_id, image_id)))

    def delete(self, image_id):
        self._call('delete_image', lambda connection, project_id: delete(
            connection, image_id, project_id))


def make(connection, row, kind, project_id, name, key=None):
    """Begin to create an image of a server; return its id.

    :param row: the row of the server.
    :param kind: SNAPSHOT or SHELVED.
    :param project_id: that of the user who calls, and the owner; None: an administrator.
    """
    image_id = str(uuid.uuid4())
    connection.execute(
        'INSERT INTO images (id, name, server_id, project_id, kind, status, key) '
        "VALUES (?, ?, ?, ?, ?, 'queued', ?)",
        (image_id, name, row['id'], project_id or SERVICE_PROJECT, kind, key))
    return image_id


def finish(connection, server_id):
    """Make the images of a server active."""
    connection.execute("UPDATE images SET status = 'active' WHERE server_id = ?", (server_id,))


def drop_unfinished(connection, server_id):
    """Delete the images of a server that are not active yet."""
    connection.execute("DELETE FROM images WHERE server_id = ? AND status != 'active'",
                       (server_id,))


def drop_shelved(connection, server_id, project_id):
    """Delete the image of a shelved server, when it is unshelved or deleted.

    Nova does this as the user who unshelves or deletes the server. So the image of an administrator
    stays behind if the owner of the server does it, as in Nova.

    :param project_id: that of the user who unshelves or deletes it; None: an administrator.
    """
    connection.execute(
        'DELETE FROM images WHERE server_id = ? AND kind = ? AND coalesce(?, project_id) = '
        'project_id', (server_id, SHELVED, project_id))


def delete(connection, image_id, project_id):
    """Delete an image, unless another project owns it. A running upload is aborted."""
    row = connection.execute('SELECT * FROM images WHERE id = ?', (image_id,)).fetchone()
    if row is None or project_id not in (None, row['project_id']):
        return
    connection.execute('DELETE FROM images WHERE id = ?', (image_id,))
    if row['status'] != 'active':
        connection.execute(
            'UPDATE servers SET task = NULL, task_due = NULL WHERE id = ? AND task = ?',
            (row['server_id'], UPLOADING))


class SimulatedGlanceAdapter(base.GlanceAdapter):
    """Glance of the simulated cloud."""

    interfaces = {'images': SimulatedImages}
