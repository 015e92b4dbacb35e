# SPDX-License-Identifier: Apache-2.0
"""The volumes of a test on the real cloud: what leases make, and what users have anyway."""
import scene as scenes

#: The back end that only leases use, its capacity, and the ordinary one with its public type.
LEASED, ROOM_GB, ORDINARY = 'cinder1@lease#lease', 200, 'fake'
TYPE_PREFIX = 'reservation:'
_STILL = ('available', 'in-use', 'error')


class Storage:
    """Cinder as the people of a Scene see it."""

    def __init__(self, scene):
        self.scene = scene
        self.admin = scene.people['admin'].block_storage
        self.project_id = scene.people['demo'].current_project_id

    def lease(self, *reservations, person='demo', active=True, duration='10m', **more):
        """A new lease with reservations of volumes, each a dict; running unless told otherwise."""
        made = self.scene.climate(person).leases.create(
            self.scene.name(), duration=duration, reservations=[
                {'resource_type': 'virtual:volume', **each} for each in reservations], **more)
        self.scene.remember(made['id'])
        return self.scene.wait(made['id'], 'active') if active else made

    def change(self, lease, **fields):
        """Change the first reservation of a lease; return the lease when that is carried out."""
        leases = self.scene.climate().leases
        leases.update(lease['id'], reservations=[{'id': lease['reservations'][0]['id'], **fields}])
        [found] = self.scene.climate().leases.get(lease['id'])['reservations']
        wanted = found['size_gb'] * found['amount']
        scenes.until(lambda: self._room(lease) == wanted, 'the change to be carried out', 60)
        return self.scene.wait(lease['id'], 'active')

    def _room(self, lease):
        """Return the gigabytes that the types of a lease have by their quotas."""
        mark = f'gigabytes_{TYPE_PREFIX}{lease["reservations"][0]["id"]}:'
        found = self.admin.get(f'/os-quota-sets/{self.project_id}').json()['quota_set']
        return sum(most for name, most in found.items() if name.startswith(mark))

    def end(self, lease, seconds=90):
        """End a lease now and wait for that."""
        self.scene.climate('admin').leases.end(lease['id'])
        return self.scene.wait(lease['id'], 'terminated', seconds)

    def types(self):
        """The names of the types that reservations have."""
        return sorted(each.name for each in self.admin.types(is_public='None')
                      if each.name.startswith(TYPE_PREFIX))

    def volumes(self, lease=None):
        """The volumes of all projects, or those of the types of a lease, oldest first."""
        found = sorted(self.admin.volumes(all_projects=True), key=lambda each: each.created_at)
        if lease is None:
            return found
        marks = tuple(f'{TYPE_PREFIX}{each["id"]}' for each in lease['reservations'])
        return [each for each in found if each.volume_type.startswith(marks)]

    def make(self, size=1, type_name=ORDINARY, person='demo'):
        """A new volume of a person, available; it is deleted when the test is over."""
        made = self.scene.people[person].block_storage.create_volume(
            name=self.scene.name(), size=size, volume_type=type_name)
        self.drop_afterwards(made.id)
        return self.still(made.id)

    def still(self, volume_id, seconds=30):
        """The volume, as soon as nothing changes it any more."""
        def look():
            found = self.admin.get_volume(volume_id)
            return found if found.status in _STILL else None
        return scenes.until(look, f'volume {volume_id} to settle', seconds)

    def exists(self, volume_id):
        return self.admin.find_volume(volume_id, ignore_missing=True, all_projects=True) is not None

    def drop(self, volume_id):
        """Delete a volume with its snapshots, and wait until it is gone."""
        if self.exists(volume_id):
            self.still(volume_id)
            self.admin.delete(f'/volumes/{volume_id}', params={'cascade': 'true'})
            scenes.until(lambda: not self.exists(volume_id), f'volume {volume_id} to be gone')

    def drop_afterwards(self, volume_id):
        self.scene.afterwards(lambda: self.drop(volume_id))

    def images(self, lease):
        """The images that were made of the volumes of a lease; they go when the test is over."""
        image = self.scene.people['admin'].image
        marks = tuple(each['id'] for each in lease['reservations'])
        found = [each for each in image.images()
                 if (each.properties.get('climate_key') or '').startswith(marks)]
        for each in found:
            self.scene.afterwards(lambda each=each: image.delete_image(each, ignore_missing=True))
        return found

    def limit(self, **quotas):
        """Set quotas of the project demo until the test is over."""
        place = f'/os-quota-sets/{self.project_id}'
        before = self.admin.get(place).json()['quota_set']
        self._put(place, quotas)
        self.scene.afterwards(lambda: self._put(place, {name: before[name] for name in quotas}))

    def _put(self, place, quotas):
        assert self.admin.put(place, json={'quota_set': quotas}).status_code == 200

    def server(self, **more):
        """An ordinary server of demo, ACTIVE, without a network."""
        demo = self.scene.people['demo']
        made = demo.compute.create_server(
            name=self.scene.name(), image_id=demo.image.find_image('tiny').id,
            flavor_id=demo.compute.find_flavor('m1.nano').id, networks='none', **more)
        self.scene.remember_server(made.id)
        found = self.scene.booted(made.id)
        assert found.status == 'ACTIVE', found.fault
        return found
