# SPDX-License-Identifier: Apache-2.0
"""A nginx before the APIs of a stage and before two consoles, and a steady load on both."""
import contextlib
import dataclasses
import os
import shutil
import subprocess
import sys
import threading
import time

import requests
from support import builders
from support import keystone_standin
from support import loopback
from support import waiting

from chaos import programs
from tools.cloud import commands
from tools.cloud import processes

PATH = f'{os.environ["PATH"]}:/usr/sbin'
_MAIN = 'import sys; from climate.cmd import console; sys.exit(console.main())'
_NGINX = '''
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_read_timeout 70s;
    upstream apis {{ {apis} keepalive 16; }}
    upstream consoles {{ {consoles} keepalive 16; }}
    server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://apis; }} }}
    server {{ listen 127.0.0.1:{console_port}; location / {{ proxy_pass http://consoles; }} }}
}}
'''
_CONSOLE = '''
[console]
port = {port}
auth_url = {auth_url}
endpoint_override = {url}
[cache]
enabled = true
backend = dogpile.cache.memcached
memcache_servers = 127.0.0.1:{memcached}
'''


def missing():
    """Return the names of the programs that are not installed."""
    return [name for name in ('nginx', 'memcached') if not shutil.which(name, path=PATH)]


class Balanced:
    """nginx and two consoles in the place of a stage that is up.

    :ivar url: where nginx answers for the APIs; `console_url` where it answers for the consoles.
    :ivar consoles: {name: Program}.
    """

    def __init__(self, stage, stack):
        self._place = stage.plan.place
        port, console_port, memcached = (builders.a_free_port() for _ in range(3))
        self.url, self.console_url = (f'http://127.0.0.1:{each}' for each in (port, console_port))
        self._begin(stack, 'memcached', '-l', '127.0.0.1', '-p', memcached, '-U', '0',
                    '-u', 'nobody')
        keystone = keystone_standin.Keystone(self.url)
        stack.enter_context(loopback.serving(keystone))
        self.consoles, self.ports = {}, {}
        for name in ('console1', 'console2'):
            self.ports[name] = builders.a_free_port()
            commands.write(self._place.conf / f'{name}.conf', _CONSOLE.format(
                port=self.ports[name], auth_url=keystone.url, url=self.url, memcached=memcached))
            self.consoles[name] = programs.Program(
                self._place, name, lambda name=name: self._console(stage, name))
            stack.callback(self.consoles[name].kill)
            self.consoles[name].up()
        groups = [url.rpartition(':')[2] for url in stage.urls], self.ports.values()
        servers = [''.join(f'server 127.0.0.1:{each} max_fails=0; ' for each in group)
                   for group in groups]
        config = self._place.conf / 'nginx.conf'
        config.write_text(_NGINX.format(folder=self._place.run, apis=servers[0], port=port,
                                        consoles=servers[1], console_port=console_port))
        self._begin(stack, 'nginx', '-e', self._place.run / 'nginx-start.log', '-c', config)
        for name in self.consoles:
            self.wait_for(name)
        waiting.until(lambda: loopback.listens(port), 'nginx does not listen.')

    def wait_for(self, name):
        """Return when a console answers."""
        processes.wait_for_answer(self._place, name,
                                  f'http://127.0.0.1:{self.ports[name]}/healthcheck')

    def _console(self, stage, name):
        processes.start(self._place, name, [
            sys.executable, '-c', _MAIN, '--config-file', self._place.conf / f'{name}.conf',
            '--log-file', self._place.log / f'{name}.log'], env=stage._environment())

    @staticmethod
    def _begin(stack, name, *words):
        process = subprocess.Popen([shutil.which(name, path=PATH), *map(str, words)])
        stack.callback(process.wait, 30)
        stack.callback(process.terminate)


@dataclasses.dataclass
class Load:
    """Requests at a steady rate, from threads that each wait for their answers.

    :ivar answered: how many were answered; `slowest` in how many seconds.
    :ivar wrong: the requests that were not answered with 2xx, or too late, in words.
    """

    balanced: Balanced
    rate: int
    late_seconds: float
    answered: int = 0
    slowest: float = 0
    wrong: list = dataclasses.field(default_factory=list)

    @contextlib.contextmanager
    def running(self):
        """Send requests in the block."""
        stop, threads = threading.Event(), []
        for number in range(self.rate // 2):
            threads.append(threading.Thread(target=self._client, args=(number, stop)))
            threads[-1].start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def _client(self, number, stop):
        """Send two requests a second: one client of ten leases hosts, another one reads pages."""
        session = requests.Session()
        session.trust_env = False
        session.headers.update({'X-Auth-Token': 'demo:demo:member,reader',
                                'OpenStack-API-Version': 'reservation 1.1'})
        api, method, body = f'{self.balanced.url}/v1/leases', 'GET', None
        if number % 10 == 1:
            api = f'{self.balanced.console_url}/leases'
            session.post(f'{self.balanced.console_url}/login', timeout=60, data={
                'username': 'demo', 'password': keystone_standin.PASSWORD, 'project': 'demo',
                'user_domain': 'Default', 'project_domain': 'Default'})
        elif number % 10 == 0:
            method, body = 'POST', {'name': f'of {number}', 'duration': '4s', 'reservations': [
                {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}
        else:
            api += '?limit=10'
        # The clients do not send at the same moments.
        stop.wait(number / self.rate)
        while not stop.is_set():
            began = time.monotonic()
            self._count(f'{method} {api}', began, session, (method, api, body))
            stop.wait(max(0, 0.5 - (time.monotonic() - began)))

    def _count(self, words, began, session, request):
        method, url, body = request
        try:
            answer = session.request(method, url, json=body, timeout=90, allow_redirects=False)
            outcome = str(answer.status_code)
            if not answer.ok or answer.is_redirect:
                outcome += f' {answer.text[:200]}'
        except requests.RequestException as error:
            outcome = repr(error)
        took = time.monotonic() - began
        self.answered += 1
        self.slowest = max(self.slowest, took)
        if not outcome.startswith('2') or took > self.late_seconds:
            self.wrong.append(f'{time.strftime("%T")} {words}: {outcome}, {took:.1f} s')
