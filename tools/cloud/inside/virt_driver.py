# SPDX-License-Identifier: Apache-2.0
"""Nova's fake virt driver with the four things that tests of a real cloud miss in it.

Hosts have a size, a node keeps its UUID over a restart, snapshots become active images, and live
migrations can be made slow. The Nova launcher makes this module known as `nova.virt.virt_driver`.
"""
import io
import os
import pathlib
import time

from nova.image import glance
from nova.virt import fake


class SizedFakeDriver(fake.FakeDriverWithoutFakeNodes):
    """A host of 16 VCPU, 32 GiB of memory and 200 GB of disk."""

    vcpus = 16
    memory_mb = 32768
    local_gb = 200

    def set_host_enabled(self, enabled):
        """Return the answer that nova-compute expects when its service is enabled or disabled."""
        return 'enabled' if enabled else 'disabled'

    def snapshot(self, context, instance, image_id, update_task_state):
        """Upload a small image; the stock driver uploads none, and it stays queued for ever."""
        super().snapshot(context, instance, image_id, update_task_state)
        glance.API().update(
            context, image_id, {'disk_format': 'raw', 'container_format': 'bare'},
            io.BytesIO(b'\0' * 1024), purge_props=False)

    def live_migration(self, context, instance, dest, post_method, recover_method,
                       block_migration=False, migrate_data=None):
        time.sleep(_migrate_seconds())
        super().live_migration(context, instance, dest, post_method, recover_method,
                               block_migration, migrate_data)


def _migrate_seconds():
    """CLOUD_MIGRATE_SECONDS: a number, or a file with one that is read at each migration."""
    value = os.environ.get('CLOUD_MIGRATE_SECONDS', '0')
    if os.path.exists(value):
        value = pathlib.Path(value).read_text()
    return float(value or 0)
