# SPDX-License-Identifier: Apache-2.0
"""Two consoles, with their Keystone and their memcached, and a nginx before them and the APIs."""
import sys

import requests
from support import balanced
from support import builders
from support import keystone_standin
from support import loopback

from chaos import programs
from tools.cloud import commands
from tools.cloud import processes

_MAIN = 'import sys; from climate.cmd import console; sys.exit(console.main())'
_CONF = '''
[console]
port = {port}
auth_url = {auth_url}
endpoint_override = {url}
[cache]
enabled = true
backend = dogpile.cache.memcached
memcache_servers = 127.0.0.1:{memcached}
'''


class Consoles:
    """The consoles in the place of a stage that is up.

    :ivar url: where nginx answers for the APIs; `console_url` where it answers for the consoles.
    :ivar programs: {name: Program}; `ports` {name: port}.
    """

    def __init__(self, stage, stack):
        place, memcached = stage.plan.place, builders.a_free_port()
        balanced.begin(stack, 'memcached', '-l', '127.0.0.1', '-p', memcached, '-U', '0',
                       '-u', 'nobody')
        self.ports = {name: builders.a_free_port() for name in ('console1', 'console2')}
        self.url, self.console_url = balanced.nginx(
            stack, place.run, [url.rpartition(':')[2] for url in stage.urls], self.ports.values())
        keystone = keystone_standin.Keystone(self.url)
        stack.enter_context(loopback.serving(keystone))
        self.programs = {}
        for name, port in self.ports.items():
            commands.write(place.conf / f'{name}.conf', _CONF.format(
                port=port, auth_url=keystone.url, url=self.url, memcached=memcached))
            command = [sys.executable, '-c', _MAIN, '--config-file', place.conf / f'{name}.conf',
                       '--log-file', place.log / f'{name}.log']
            self.programs[name] = programs.Program(
                place, name, lambda name=name, command=command: processes.start(
                    place, name, command, env=stage._environment(name)))
            stack.callback(self.programs[name].kill)
            self.programs[name].up()
            processes.wait_for_answer(place, name, f'http://127.0.0.1:{port}/healthcheck')

    def client(self, number):
        """Return a function that sends a request: one client of ten leases, another reads pages."""
        session = requests.Session()
        session.trust_env = False
        session.headers.update({'X-Auth-Token': 'demo:demo:member,reader',
                                'OpenStack-API-Version': 'reservation 1.1'})
        if number % 10 == 1:
            session.post(f'{self.console_url}/login', timeout=60, data={
                'username': 'demo', 'password': keystone_standin.PASSWORD, 'project': 'demo',
                'user_domain': 'Default', 'project_domain': 'Default'})
            return lambda: session.get(f'{self.console_url}/leases', timeout=90,
                                       allow_redirects=False)
        if number % 10 == 0:
            body = {'name': f'of {number}', 'duration': '4s', 'reservations': [
                {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}
            return lambda: session.post(f'{self.url}/v1/leases', json=body, timeout=90)
        return lambda: session.get(f'{self.url}/v1/leases?limit=10', timeout=90)
