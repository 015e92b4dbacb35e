# SPDX-License-Identifier: Apache-2.0
"""The Climate that replaces Blazar on the real cloud, and the leases that it carries on."""
import dataclasses
import os

import blazar_fleet as fleets
import blazar_service
import scene as scenes

from tools import pages
from tools.cloud import climate_service
from tools.cloud import processes
from tools.cloud import settings

PAGE = settings.CHECKOUT / 'doc' / 'source' / 'admin' / 'blazar.rst'
NAMES = ('climate-manager', 'climate-api')


class MovedClimate:
    """The Climate that replaces Blazar, with the commands and the options of the page.

    It has a database and a configuration of its own, and the address of the cloud's Climate.
    """

    def __init__(self, before, folder):
        self._cloud, self._folder = before.cloud, folder
        self._settings = dataclasses.replace(before.cloud, climate_name='moved')
        self._settings.make_folders()
        self.conf = climate_service.conf_file(self._settings)
        self._sql = before.blazar.sql
        kept = {name: value for name, value in os.environ.items() if not name.startswith('OS_')}
        self.reader = pages.Reader(folder, kept | {
            'PATH': f'{scenes.BIN}:{kept["PATH"]}', 'OS_CLOUD': 'admin',
            'OS_CLIENT_CONFIG_FILE': str(before.cloud.home / 'clouds.yaml')}, ())
        for text, other in {
                'mysql+pymysql://blazar:PASSWORD@controller/blazar': blazar_service.SOURCE,
                'climate-db': f'climate-db --config-file {self.conf}',
                'climate-manager audit': f'climate-manager --config-file {self.conf} audit',
                '/etc/climate/climate.conf': str(self.conf),
                '/etc/nova/nova.conf': str(folder / 'nova.conf'),
                'username = blazar': 'username = climate'}.items():
            self.reader.change(text, other)

    def configure(self, *sections):
        """Write its configuration with the options of the page; create an empty database.

        :param sections: the titles of further sections whose options are set.
        """
        climate_service.write_conf(self._settings)
        self.drop()
        self._sql('CREATE DATABASE moved CHARACTER SET utf8mb4', database=None)
        for block in pages.blocks(PAGE, 'Prepare', 'Switch', *sections):
            if block.caption:
                self.reader.follow(block)
        with self.conf.open('a') as file:
            file.write('[manager]\naudit_grace_seconds = 2\n')

    def import_(self, *words, code=0):
        """Import Blazar's database; return the output."""
        return self.command('climate-db', 'import-blazar', '--source', blazar_service.SOURCE,
                            *words, code=code)

    def export(self):
        """Export to Blazar's database as the page says; return False while it is refused."""
        try:
            return self.follow('Return to Blazar', 1)
        except pages.PageError as error:
            assert 'climate-manager runs' in str(error), error
            return False

    def follow(self, section, number):
        """Run a block of commands of the page; return its output."""
        found = [block for block in pages.blocks(PAGE, section) if block.language == 'bash']
        return self.reader.follow(found[number])

    def command(self, name, *words, code=0):
        """Return the output of a command with this configuration."""
        out, err = scenes.run(self._cloud, scenes.BIN / name, '--config-file', self.conf, *words,
                              code=code)
        return out + err

    def switch_filter(self):
        """Give Nova the filters of Climate, with the options of the page."""
        blazar_service.restart_nova(self._cloud, CLOUD_NOVA_EXTRA=self._folder / 'nova.conf')

    def start(self):
        """Start both daemons; return as soon as they answer."""
        for name in NAMES:
            climate_service.start(self._settings, name)
        processes.wait_for_answer(self._settings, NAMES[1], settings.url('climate', '/healthcheck'))

    def stop(self):
        """Stop both daemons. Harmless when repeated."""
        for name in reversed(NAMES):
            processes.stop(self._settings, name)

    def drop(self):
        """Drop its database."""
        self._sql('DROP DATABASE IF EXISTS moved', database=None)


class MovedLeases:
    """The leases of Blazar, as Climate carries them on."""

    def __init__(self, old):
        self._old, self._scene = old, old.scene
        self._admin = old.scene.people['admin']

    def get(self, name):
        return self._scene.climate('admin').leases.get(self._old.ids[name])

    def wait(self, names, status):
        """Wait until all of these leases have a status."""
        leases = self._scene.climate('admin').leases
        wanted = {self._old.ids[name]: name for name in names}

        def reached():
            others = {wanted[each['id']]: each['status']
                      for each in leases.list(all_projects=True)
                      if each['id'] in wanted and each['status'] != status}
            reached.others = others
            return not others
        try:
            scenes.until(reached, f'all to be {status}', 10 * self._old.hour_seconds, 1)
        except AssertionError as error:
            raise AssertionError(f'{error}: {reached.others}') from None

    def servers_are_unchanged(self, names=fleets.RUNNING):
        """Check that the first servers of these leases run on their hosts."""
        for name in names:
            before = self._old.servers[name]
            after = self._admin.compute.get_server(before.id)
            assert (after.status, after.compute_host, after.launched_at) == (
                'ACTIVE', before.compute_host, before.launched_at), name

    def servers_are_gone(self, names):
        for name in names:
            assert not self._scene.exists(self._old.servers[name].id), name

    def refuses_strangers(self, name):
        """Check that another project cannot use a lease."""
        server = self._old.boot(name, person='alt')
        assert server.status == 'ERROR', (name, server.compute_host)
        self._scene.remove(server.id)

    def create(self, name, reservation, start_seconds=0, **more):
        """Create a lease in Climate, as the demo user."""
        start = {'start': scenes.in_seconds(start_seconds)} if start_seconds else {}
        lease = self._scene.climate().leases.create(
            name, reservations=[reservation], **start, **more)
        self._old.ids[name] = lease['id']
        self._old.targets[name] = (
            lease['reservations'][0]['id'], reservation['resource_type'], None)

    def extend(self, name, by):
        self._scene.climate().leases.extend(self._old.ids[name], by=by)

    def end(self, names):
        for name in names:
            self._scene.climate().leases.end(self._old.ids[name])

    def delete(self, names):
        for name in names:
            self._scene.climate().leases.delete(self._old.ids[name])

    def take_image(self, name):
        """Check the image that the end of a lease took of its server, and delete it."""
        server = self._old.servers[name]
        [image] = self._admin.image.images(name=f'reserved_{server.name}')
        assert (image.status, image.owner) == ('active', server.project_id)
        self._admin.image.delete_image(image)

    def ended_in_time(self, names):
        """Check that each lease ended within a minute after its end."""
        late = {}
        for name in names:
            lease = self.get(name)
            if lease['ended_at'] > lease['end']:
                by = scenes.seconds_since(lease['end']) - scenes.seconds_since(lease['ended_at'])
                late |= {name: by} if by > 60 else {}
        assert not late
