# SPDX-License-Identifier: Apache-2.0
"""The state of a leased server on the real cloud, as its tests read it."""
import json

import scene as scenes

FLAVOR = 'm1.nano'


def command(name, params, *words):
    """The words with which the command line boots a server.

    :param params: of the lease that it is to get, a dict; None: nothing is said of a lease.
    """
    hints = [] if params is None else [
        '--hint', 'reserved=True', '--hint', f'lease_params={json.dumps(params)}']
    return [scenes.BIN / 'openstack', 'server', 'create', '--flavor', FLAVOR, '--image', 'tiny',
            '--nic', 'none', *hints, *words, name]


class Leased:
    """A server that was booted by somebody's command line, and its lease.

    :ivar id: of the server.
    """

    def __init__(self, scene, shown):
        self.scene = scene
        self.id = shown['id']
        self.lease_id = shown['properties']['climate:lease_id']
        scene.remember(self.lease_id)

    def look(self):
        return self.scene.people['admin'].compute.get_server(self.id)

    def settled(self, status, seconds=30):
        """The server, as soon as it has that status and no task any more."""
        def seen():
            found = self.look()
            assert found.status != 'ERROR', found.fault
            return found if found.status == status and not found.task_state else None
        return scenes.until(seen, f'server {self.id} to be {status}', seconds)

    def marked(self, text):
        """Wait until the server says of itself that it is RESERVED or ACTIVE."""
        scenes.until(lambda: self.look().metadata.get('climate:status') == text,
                     f'server {self.id} to be marked {text}')

    def lease(self, status, seconds=60):
        return self.scene.wait(self.lease_id, status, seconds)

    @property
    def reservation_id(self):
        lease = self.scene.climate('admin').leases.get(self.lease_id)
        return lease['reservations'][0]['id']

    def end(self):
        """End the lease now, and wait for that."""
        self.scene.climate('admin').leases.end(self.lease_id)
        return self.lease('terminated')

    def marks(self):
        """Return the metadata that Climate wrote on the server."""
        return {key: text for key, text in self.look().metadata.items()
                if key.startswith('climate:')}

    def images(self):
        """The images that were made at the end."""
        admin = self.scene.people['admin']
        return [each for each in admin.image.images()
                if each.properties.get('climate_key') == self.reservation_id]

    def active_image(self, owner):
        """The one image, when it is active; it belongs to that project."""
        [image] = scenes.until(
            lambda: [each for each in self.images() if each.status == 'active'],
            'the image to be active', 60)
        assert image.owner == owner
        return image

    def gone(self, seconds):
        scenes.until(lambda: not self.scene.exists(self.id), f'server {self.id} to be gone',
                     seconds)
