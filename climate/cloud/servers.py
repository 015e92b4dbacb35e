# SPDX-License-Identifier: Apache-2.0
"""Nova: single servers and their changes."""
import contextlib
import datetime

from novaclient import exceptions as nova_errors

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import nova_client

# The first microversion at which a server can be unshelved to a given host.
_UNSHELVE_VERSION = '2.91'
_GONE = ('DELETED', 'SOFT_DELETED')
_ALIVE = ('ACTIVE', 'PAUSED')
_MIGRATIONS = ('live-migration', 'migration')
_FAILED = ('error', 'failed')
# Limit of the name of an image, in characters.
_LONGEST_NAME = 255
# The property of an image that names the purpose for which it was created.
IMAGE_KEY = 'climate_key'
# The property of an image that names its server. Nova sets one of its own, but not on every image.
SERVER_KEY = 'climate_server'


class NovaServers(nova_client.NovaInterface, base.CloudServers):
    """The servers under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._unshelving = nova_client.connected(connection, _UNSHELVE_VERSION)
        self._lists = nova_client.ServerLists(connection)

    def server(self, server_id):
        return self._find(server_id)

    def marked(self, project_id, key, text):
        # Nova no longer searches by metadata.
        servers = nova_client.sorted_servers(self._client, project_id=project_id)
        return [server for server in servers if server.metadata.get(key) == text]

    def ids(self):
        return frozenset(resource.id for resource in self._client.servers.list(
            detailed=False, search_opts={'all_tenants': 1}, limit=-1))

    def every(self):
        return self._lists.find()

    def mark(self, server_id, metadata):
        with self._changing(server_id):
            known = self._client.servers.get(server_id).metadata
            changed = {key: text for key, text in metadata.items()
                       if text is not None and known.get(key) != text}
            if changed:
                self._client.servers.set_meta(server_id, changed)
            for key in known:
                if metadata.get(key, '') is None:
                    self._client.servers.delete_meta(server_id, [key])

    def shelve(self, server_id):
        with self._changing(server_id):
            self._client.servers.shelve(server_id)

    def offload(self, server_id):
        with self._changing(server_id):
            self._client.servers.shelve_offload(server_id)

    def unshelve(self, server_id, service_host=None, keeps_zone=False):
        with self._changing(server_id):
            if service_host is None:
                self._client.servers.unshelve(server_id)
            elif keeps_zone:
                self._unshelving.servers.unshelve(server_id, host=service_host)
            else:
                # This unpins the server from its zone, in which the host may not be.
                self._unshelving.servers.unshelve(server_id, availability_zone=None,
                                                  host=service_host)

    def suspend(self, server_id):
        with self._changing(server_id):
            self._client.servers.suspend(server_id)

    def unrescue(self, server_id):
        with self._changing(server_id):
            self._client.servers.unrescue(server_id)

    def stop(self, server_id):
        with self._changing(server_id):
            self._client.servers.stop(server_id)

    def migrate(self, server_id, service_host=None):
        server = self._find(server_id)
        if server is None:
            raise errors.TargetGone(kind='server', target_id=server_id)
        with self._changing(server_id):
            if server.status in _ALIVE:
                self._client.servers.live_migrate(
                    server_id, host=service_host, block_migration='auto')
            elif server.status == 'SHUTOFF':
                self._client.servers.migrate(server_id, host=service_host)
            elif server.status == 'VERIFY_RESIZE':
                self._client.servers.confirm_resize(server_id)
            else:
                raise errors.StillBusy(service=self.service, reason=(
                    f'server {server_id} cannot be moved while it is {server.status}.'))

    def last_migration(self, server_id):
        migrations = self._client.migrations.list(instance_uuid=server_id)
        last = max(migrations, key=lambda migration: migration.id, default=None)
        return last and models.ServerMigration(
            id=last.id, kind=last.migration_type, status=last.status, source=last.source_compute,
            target=last.dest_compute)

    def failures(self, server_id, change, since):
        # Nova stores whole seconds only.
        since = since.astimezone(datetime.UTC).replace(microsecond=0, tzinfo=None)
        with self._changing(server_id):
            failed = (self._failed_migrations(server_id) if change == 'migrate'
                      else self._failed_actions(server_id, change))
        return sum(datetime.datetime.fromisoformat(moment) >= since for moment in failed)

    def create_image(self, server_id, name, key):
        with self._changing(server_id):
            self._client.servers.create_image(
                server_id, name[:_LONGEST_NAME], {IMAGE_KEY: key, SERVER_KEY: server_id})

    def _find(self, server_id):
        try:
            server = self._lists.one(server_id)
        except nova_errors.NotFound:
            return None
        return None if server.status in _GONE else server

    @contextlib.contextmanager
    def _changing(self, server_id):
        """Map Nova's refusals in the block to TargetGone or StillBusy."""
        try:
            yield
        except nova_errors.NotFound as error:
            raise errors.TargetGone(kind='server', target_id=server_id) from error
        except nova_errors.Conflict as error:
            if self._find(server_id) is None:
                raise errors.TargetGone(kind='server', target_id=server_id) from error
            raise self._busy(error) from error

    def _failed_actions(self, server_id, action):
        """Return when the failed actions of that name began, as texts in Nova's format."""
        return [record.start_time for record in self._client.instance_action.list(server_id)
                if record.action == action and record.message == 'Error']

    def _failed_migrations(self, server_id):
        """Return when the failed migrations began, as texts in Nova's format."""
        return [migration.created_at
                for migration in self._client.migrations.list(instance_uuid=server_id)
                if migration.migration_type in _MIGRATIONS and migration.status in _FAILED]
