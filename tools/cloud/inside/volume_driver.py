# SPDX-License-Identifier: Apache-2.0
"""A driver for Cinder that needs neither root nor a block device: volumes are sparse files.

A back end is one pool of a fixed size. Each volume and each snapshot takes its full size there, so
that Cinder's scheduler refuses what does not fit.
"""
import io
import pathlib

from cinder import exception
from cinder import interface
from cinder.volume import configuration
from cinder.volume import driver
from oslo_config import cfg

GB = 1024 ** 3
SIZE = cfg.IntOpt('pool_gb', default=1000, help='The size of the pool, in GB.')
cfg.CONF.register_opts([SIZE], group=configuration.SHARED_CONF_GROUP)


@interface.volumedriver
class SparseFiles(driver.VolumeDriver):
    """One folder, with a file for each volume and each snapshot."""

    VERSION = '1.0.0'
    CI_WIKI_NAME = 'none'
    PROTOCOL = 'file'

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.configuration.append_config_values([SIZE])
        self._pool = self.configuration.volume_backend_name
        self._folder = pathlib.Path(cfg.CONF.state_path) / 'pools' / self._pool

    def do_setup(self, context):
        self._folder.mkdir(parents=True, exist_ok=True)

    def check_for_setup_error(self):
        """Accept the folder: it was just made."""

    def _update_volume_stats(self):
        total = self.configuration.pool_gb
        used = sum(file.stat().st_size for file in self._folder.iterdir()) / GB
        self._stats = {
            'volume_backend_name': self._pool, 'vendor_name': 'none',
            'driver_version': self.VERSION, 'storage_protocol': self.PROTOCOL,
            'pools': [{
                'pool_name': self._pool, 'location_info': str(self._folder),
                'total_capacity_gb': total, 'free_capacity_gb': total - used,
                'provisioned_capacity_gb': used, 'allocated_capacity_gb': used,
                'reserved_percentage': self.configuration.reserved_percentage,
                'max_over_subscription_ratio': self.configuration.max_over_subscription_ratio,
                'thick_provisioning_support': True, 'thin_provisioning_support': False,
                'multiattach': True, 'QoS_support': False}]}

    def _file(self, thing):
        """The file of a volume or a snapshot."""
        return self._folder / thing.name

    def _fill(self, thing, size):
        with self._file(thing).open('ab') as file:
            file.truncate(size * GB)

    def _remove(self, thing):
        # Cinder asks again after a failure, so it may be gone.
        self._file(thing).unlink(missing_ok=True)

    def create_volume(self, volume):
        self._fill(volume, volume.size)

    def extend_volume(self, volume, new_size):
        self._fill(volume, new_size)

    def delete_volume(self, volume):
        self._remove(volume)

    def create_snapshot(self, snapshot):
        self._fill(snapshot, snapshot.volume_size)

    def delete_snapshot(self, snapshot):
        self._remove(snapshot)

    def create_volume_from_snapshot(self, volume, snapshot):
        self._fill(volume, volume.size)

    def create_cloned_volume(self, volume, src_vref):
        self._fill(volume, volume.size)

    def revert_to_snapshot(self, context, volume, snapshot):
        """The files hold no data that could be put back."""

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        """Make a volume of an image without its data, which would need qemu-img."""
        self._fill(volume, volume.size)
        return {}, True

    def copy_volume_to_image(self, context, volume, image_service, image_meta):
        image_service.update(context, image_meta['id'], {}, io.BytesIO(bytes(1024)))

    def retype(self, context, volume, new_type, diff, host):
        """Accept a change of type within the pool, which needs no work."""
        return True, None

    def migrate_volume(self, context, volume, host):
        """Move the file, if the other pool is a folder of this driver as well."""
        there = host['capabilities'].get('location_info')
        if host['capabilities'].get('storage_protocol') != self.PROTOCOL or not there:
            return False, None
        self._file(volume).rename(pathlib.Path(there) / volume.name)
        return True, None

    def manage_existing_get_size(self, volume, existing_ref):
        if 'size' not in existing_ref:
            raise exception.ManageExistingInvalidReference(
                existing_ref=existing_ref, reason='the size in GB is missing')
        return int(existing_ref['size'])

    def manage_existing(self, volume, existing_ref):
        self._fill(volume, volume.size)

    def unmanage(self, volume):
        self._remove(volume)

    def initialize_connection(self, volume, connector, initiator_data=None):
        """Nova's fake driver opens nothing; it only wants an answer."""
        return {'driver_volume_type': 'local', 'data': {'device_path': str(self._file(volume))}}

    def terminate_connection(self, volume, connector, **more):
        """Close nothing: nothing was opened."""

    def ensure_export(self, context, volume):
        """Files are not exported."""

    def create_export(self, context, volume, connector):
        """Files are not exported."""

    def remove_export(self, context, volume):
        """Files are not exported."""
