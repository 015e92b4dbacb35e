# SPDX-License-Identifier: Apache-2.0
"""The broker and the database, on free ports of loopback."""
import contextlib
import socket

from chaos import programs
from tools.cloud import commands
from tools.cloud import processes
from tools.cloud import settings
from tools.databases import mariadb
from tools.databases import postgresql

DATABASES = {'postgresql': postgresql, 'mariadb': mariadb}
_BROKER = """\
listeners.tcp.1 = 127.0.0.1:{port}
default_user = climate
default_pass = {password}
loopback_users = none
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 50MB
log.file.level = warning
"""


def free_ports(count):
    """Return that number of free ports of loopback."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.bind(('127.0.0.1', 0))
        return [each.getsockname()[1] for each in found]


def database(place, name, port):
    """The Program of a database."""
    return programs.Program(place, name, lambda: DATABASES[name].up(place, port))


def epmd(place, port):
    """The Program of RabbitMQ's port mapper, which must outlive it."""
    def start():
        processes.start(place, 'epmd', ['epmd', '-address', '127.0.0.1', '-port', port])
        processes.wait_for_port(place, 'epmd', port)
    return programs.Program(place, 'epmd', start)


def broker(place, port, cluster_port, epmd_port):
    """The Program of RabbitMQ, and the transport_url with which it is reached."""
    home = place.data / 'rabbitmq'
    home.mkdir(exist_ok=True)
    commands.write(place.conf / 'rabbitmq.conf',
                   _BROKER.format(port=port, password=settings.PASSWORD))
    commands.write(place.conf / 'rabbitmq-plugins', '[].\n')
    env = {
        'HOME': str(home), 'RABBITMQ_NODENAME': f'chaos{port}@localhost',
        'RABBITMQ_MNESIA_BASE': str(home), 'RABBITMQ_LOG_BASE': str(place.log),
        'RABBITMQ_PID_FILE': str(place.run / 'rabbitmq.own-pid'),
        'RABBITMQ_CONFIG_FILE': str(place.conf / 'rabbitmq'),
        'RABBITMQ_ENABLED_PLUGINS_FILE': str(place.conf / 'rabbitmq-plugins'),
        'RABBITMQ_CONF_ENV_FILE': '/dev/null', 'RABBITMQ_DIST_PORT': str(cluster_port),
        'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS':
            '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none',
        'ERL_EPMD_PORT': str(epmd_port), 'ERL_EPMD_ADDRESS': '127.0.0.1'}

    def start():
        processes.start(place, 'rabbitmq', ['/usr/lib/rabbitmq/bin/rabbitmq-server'], env=env)
        processes.wait_for_port(place, 'rabbitmq', port)
    return (programs.Program(place, 'rabbitmq', start),
            f'rabbit://climate:{settings.PASSWORD}@127.0.0.1:{port}/')
