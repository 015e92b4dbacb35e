# SPDX-License-Identifier: Apache-2.0
"""A story that uses every command of a client of Blazar, as ``blazar`` and as ``openstack``."""
import json

import network_scene
import scene as scenes

ADDRESS = '172.24.4.208'
LATER = ('--start-date', '2031-01-01 10:00', '--end-date', '2031-01-01 12:00')
# 4.6.0 has an entry point without a class; openstack warns that it cannot load it.
_NAMES = """
import importlib.metadata, json, blazarclient.shell
points = importlib.metadata.entry_points(group='openstack.reservation.v1')
print(json.dumps({
    'blazar': [*blazarclient.shell.COMMANDS['v1']],
    'openstack': [point.name for point in points
                  if hasattr(__import__(point.module, fromlist=['x']), point.attr)]}))
"""


def names(consumer):
    """Return the names of all commands of a Consumer, {program: set of names}."""
    out, _ = scenes.run(consumer.cloud, consumer.program('python'), '-W', 'ignore', '-c', _NAMES)
    return {program: set(each) for program, each in json.loads(out).items()}


class Story:
    """Uses every command of one program, named as ``blazar`` names it.

    :param commands: the ``consumer.Commands`` of the program.
    :param known: the names of its commands.
    :ivar used: the names of those that were used.
    """

    def __init__(self, commands, known, scene):
        self.used = set()
        self._commands, self._known, self._scene = commands, known, scene
        self._is_plugin = any('_' in name for name in known)

    def knows(self, command):
        return self._name(command) in self._known

    def run(self, command, *words, **options):
        """Run a command; return its output."""
        return self._commands(*self._words(command), *words, **options)[0]

    def read(self, command, *words, **options):
        return self._commands.read(*self._words(command), *words, **options)

    def refuse(self, command, *words, **options):
        return self._commands.refused(*self._words(command), *words, **options)

    def _name(self, command):
        """Return the name of a command in the program."""
        if not self._is_plugin:
            return command
        if command.endswith('-update'):
            command = f'{command.removesuffix("-update")}-set'
        return f'reservation-{command}'.replace('-', '_')

    def _words(self, command):
        name = self._name(command)
        self.used.add(name)
        return name.split('_') if self._is_plugin else [name]

    def play(self, host, network_id):
        """Use all commands; leave the cloud as it was, also if a command fails.

        :param host: the name of an enrolled host.
        :param network_id: the id of a network with addresses.
        """
        self._scene.afterwards(self._withdraw)
        self._hosts(host)
        self._leases()
        self._addresses(network_id)
        if self.knows('network-list'):
            self._segments()
            self._devices()
        if self.knows('flavor-instance-availability-list'):
            self._flavors()

    def _hosts(self, name):
        self.run('host-delete', name)
        made = self.read('host-create', name, '--extra', 'rack=right')
        assert self.read('host-show', name) == made
        self.run('host-update', name, '--extra', 'gpu=2')
        assert self.read('host-show', made['id'])['gpu'] == '2'
        if self.knows('host-unset'):
            self.run('host-unset', name, '--extra', 'gpu')
            assert 'gpu' not in self.read('host-show', name)
        else:
            self._scene.climate('admin').hosts.update(made['id'], {'gpu': None})
        assert name in {host['hypervisor_hostname'] for host in self.read('host-list')}
        assert 'rack' in {each['property'] for each in self.read('host-property-list')}
        self.run('host-property-set', 'rack', '--private')
        assert 'rack' not in self.run('host-property-list')
        self.run('host-property-set', 'rack', '--public')
        assert self.read('host-property-show', 'rack')['private'] is False

    def _withdraw(self):
        for kind in ('address', 'segment'):
            pool = self._scene.climate('admin').pool(kind)
            for each in list(pool.list()):
                pool.delete(each['id'])

    def _leases(self):
        name = self._lease('physical:host,min=1,max=1', *LATER)['name']
        self.run('lease-update', name, '--prolong-for', '1h', person='demo')
        assert self.read('lease-show', name, person='demo')['end_date'].startswith(
            '2031-01-01T13:00')
        assert name in {each['name'] for each in self.read('lease-list', person='demo')}
        self.run('lease-delete', name, person='demo')
        assert name not in self.run('lease-list', person='demo')

        lease = self._scene.wait(self._lease('physical:host,min=1,max=1')['id'], 'active')
        [before] = self._allocated('allocation-list', 'host', lease=lease)
        assert self.read('allocation-show', 'host', before)['resource_id'] == before
        if self.knows('host-reallocate'):
            self.run('host-reallocate', before, '--lease-id', lease['id'])
            [after] = self._allocated('host-allocation-list', lease=lease)
            assert after != before
            assert self.read('host-allocation-show', after)['resource_id'] == after
            # A host that was swapped is in quarantine.
            self._scene.climate('admin').pool('host').update(before, in_order=True)
        self.run('lease-delete', lease['name'], person='demo')

    def _lease(self, reservation, *words):
        """Create a lease; return what the client shows of it."""
        made = self.read('lease-create', self._scene.name(), *words, '--reservation',
                         f'resource_type={reservation}', person='demo')
        self._scene.remember(made['id'])
        return made

    def _allocated(self, command, *words, lease):
        """Return the ids of the resources that a lease has, from a list of allocations."""
        return [each['resource_id'] for each in self.read(command, *words)
                if lease['id'] in json.dumps(each['reservations'])]

    def _addresses(self, network_id):
        made = self.read('floatingip-create', network_id, ADDRESS)
        assert self.read('floatingip-show', made['id'])['floating_ip_address'] == ADDRESS
        assert [each['id'] for each in self.read('floatingip-list')] == [made['id']]
        if self.knows('floatingip-allocation-list'):
            assert self.read('floatingip-allocation-list') == [
                {'resource_id': made['id'], 'reservations': []}]
        self.run('floatingip-delete', made['id'])

    def _segments(self):
        made = self.read('network-create', '--network-type', 'vlan', '--physical-network',
                         network_scene.PHYSICAL, '--segment', network_scene.FIRST,
                         '--extra', 'rack=left')
        number, key = str(network_scene.FIRST), made['id']
        assert self.read('network-show', number) == made
        self.run('network-update', key, '--extra', 'gpu=2')
        assert self.read('network-show', key)['gpu'] == '2'
        self.run('network-unset', key, '--extra', 'gpu')
        assert [each['id'] for each in self.read('network-list')] == [key]
        assert 'rack' in self.run('network-property-list')
        assert self.read('network-property-show', 'rack')['private'] is False
        # The client of Chameleon does not send this request: its command is wrong.
        assert 'unexpected keyword' in self.refuse('network-property-set', 'rack', '--private')
        lease = self._lease(f'network,network_name={self._scene.name()}')
        assert 'network' in json.dumps(lease['reservations'])
        assert self._allocated('network-allocation-list', lease=lease) == [key]
        # The command has the argument twice.
        assert self.read('network-allocation-show', key, key)['resource_id'] == key
        detail = self.run('lease-show', lease['id'], '--detail')
        assert network_scene.PHYSICAL in detail
        self._scene.wait(lease['id'], 'active')
        self.run('lease-delete', lease['id'], person='demo')
        self.run('network-delete', key)

    def _devices(self):
        """Climate has no devices, and says so."""
        for command, *words in (
                ('list',), ('show', '1'), ('create', 'x'), ('update', '1', '--extra', 'a=b'),
                ('unset', '1', '--extra', 'a'), ('delete', '1'), ('allocation-list',),
                ('allocation-show', '1'), ('reallocate', '1'), ('property-list',),
                ('property-show', 'rack')):
            assert '/v1/devices' in self.refuse(f'device-{command}', *words)
        assert 'unexpected keyword' in self.refuse('device-property-set', 'rack', '--private')

    def _flavors(self):
        every = self.read('flavor-instance-availability-list', person='demo')
        one = self.read('flavor-instance-availability-list', every[0]['flavor_id'], person='demo')
        assert one == [each for each in every if each['flavor_id'] == one[0]['flavor_id']]
