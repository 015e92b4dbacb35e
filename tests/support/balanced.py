# SPDX-License-Identifier: Apache-2.0
"""nginx before several programs, a steady load on it, and restarts of the programs meanwhile."""
from collections.abc import Callable
import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

import requests

from support import builders
from support import loopback
from support import waiting

PATH = f'{os.environ["PATH"]}:/usr/sbin'
_NGINX = '''
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {inside}
}}
'''
_PROXY = '''
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_read_timeout 70s;
'''
_SITE = '''
    upstream site{port} {{ {servers} keepalive 16; }}
    server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://site{port}; }} }}
'''


def missing():
    """Return the names of the programs that are not installed."""
    return [name for name in ('nginx', 'memcached') if not shutil.which(name, path=PATH)]


def begin(stack, name, *words):
    """Run a program until the ExitStack ends."""
    process = subprocess.Popen([shutil.which(name, path=PATH), *map(str, words)])
    stack.callback(process.wait, 30)
    stack.callback(process.terminate)


def nginx_file(folder, inside):
    """Write a configuration of nginx that keeps all its files in `folder`; return its path.

    :param inside: the contents of its block http.
    """
    config = folder / 'nginx.conf'
    config.write_text(_NGINX.format(folder=folder, inside=inside))
    return config


def nginx(stack, folder, *groups):
    """Run nginx; return a URL for each group of ports, which shares its requests among them."""
    ports = [builders.a_free_port() for _ in groups]
    sites = [_SITE.format(port=port, servers=' '.join(
        f'server 127.0.0.1:{each} max_fails=0;' for each in group))
        for port, group in zip(ports, groups, strict=True)]
    config = nginx_file(folder, ''.join([_PROXY, *sites]))
    begin(stack, 'nginx', '-e', folder / 'nginx-start.log', '-c', config)
    waiting.until(lambda: all(map(loopback.listens, ports)), 'nginx does not listen.')
    return [f'http://127.0.0.1:{port}' for port in ports]


@dataclasses.dataclass
class Load:
    """Requests at a steady rate, from threads that each wait for their answers.

    :ivar client: `client(number)` returns a function that sends a request and returns the answer.
    :ivar rate: how many requests are sent per second.
    :ivar answered: how many were answered; `slowest` in how many seconds.
    :ivar wrong: the requests that were not answered with 2xx, or too late, in words.
    """

    client: Callable
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
            threads.append(threading.Thread(target=self._ask, args=(number, stop)))
            threads[-1].start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def _ask(self, number, stop):
        """Send two requests a second."""
        send = self.client(number)
        # The clients do not send at the same moments.
        stop.wait(number / self.rate)
        while not stop.is_set():
            began = time.monotonic()
            self._count(number, began, send)
            stop.wait(max(0, 0.5 - (time.monotonic() - began)))

    def _count(self, number, began, send):
        try:
            answer = send()
            words = f'{answer.request.method} {answer.request.url}: {answer.status_code}'
            good = 200 <= answer.status_code < 300
            words += '' if good else f' {answer.text[:200]}'
        except requests.RequestException as error:
            good, words = False, repr(error)
        took = time.monotonic() - began
        self.answered += 1
        self.slowest = max(self.slowest, took)
        if not good or took > self.late_seconds:
            self.wrong.append(f'{time.strftime("%T")} client {number}: {words}, {took:.1f} s')


@dataclasses.dataclass
class Restartable:
    """A program that a rolling restart stops or reloads.

    :ivar signal: sends a signal to it; `has_ended` returns whether it has; `up` starts it again.
    :ivar health: the URL that answers when it is healthy; None: it is a manager.
    """

    name: str
    signal: Callable
    has_ended: Callable
    up: Callable
    log: pathlib.Path
    health: str | None = None

    def restart(self, number):
        """Send a signal; return when the program is healthy again."""
        reloads = number == signal.SIGHUP
        text = ': SIGHUP: ' if self.health else ': ready'
        before = self._count(text)
        self.signal(number)
        if not reloads:
            waiting.until(self.has_ended, f'{self.name} does not end.')
            self.up()
        if reloads or not self.health:
            waiting.until(lambda: self._count(text) > before, f'{self.name} is not ready.')
        if self.health:
            waiting.until(self.is_healthy, f'{self.name} is not healthy.')

    def is_healthy(self):
        """Return whether its health check succeeds."""
        with contextlib.suppress(requests.RequestException):
            return requests.get(self.health, timeout=30).ok
        return False

    def _count(self, text):
        return self.log.read_text().count(text)
