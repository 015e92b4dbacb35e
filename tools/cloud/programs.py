# SPDX-License-Identifier: Apache-2.0
"""The programs beneath OpenStack: MariaDB, RabbitMQ with its port mapper, memcached, nginx."""
from tools.cloud import commands
from tools.cloud import processes
from tools.cloud import settings

# In the order in which they are stopped: the port mapper must outlive RabbitMQ.
NAMES = ('nginx', 'memcached', 'rabbitmq', 'epmd', 'mariadb')


def start(cloud):
    """Start all of them side by side and wait until they listen."""
    (cloud.data / 'rabbitmq').mkdir(exist_ok=True)
    start_one(cloud, 'epmd')  # before RabbitMQ, which would start one that outlives it
    processes.wait_for_port(cloud, 'epmd', settings.PORTS['epmd'])
    for name in ('rabbitmq', 'memcached', 'nginx'):
        start_one(cloud, name)
    if not (cloud.data / 'mysql' / 'mysql').exists():
        commands.run(cloud, ['mariadb-install-db', f'--defaults-file={cloud.conf}/mariadb.cnf',
                             '--auth-root-authentication-method=normal', '--skip-test-db'],
                     'mariadb-install.log')
    start_one(cloud, 'mariadb')
    for name in ('mariadb', 'rabbitmq', 'memcached', 'nginx'):
        processes.wait_for_port(cloud, name, settings.PORTS[name])


def start_one(cloud, name):
    port = settings.PORTS[name]
    command = {
        'mariadb': ['mariadbd', f'--defaults-file={cloud.conf}/mariadb.cnf'],
        'epmd': ['epmd', '-address', '127.0.0.1', '-port', port],
        # The command of that name in PATH insists on Debian's own user; this one does not.
        'rabbitmq': ['/usr/lib/rabbitmq/bin/rabbitmq-server'],
        'memcached': ['memcached', '-u', settings.user(), '-l', '127.0.0.1', '-p', port,
                      '-U', 0, '-m', 128, '-c', 2048],
        'nginx': ['nginx', '-e', cloud.log / 'nginx.log', '-c', cloud.conf / 'nginx.conf'],
    }[name]
    processes.start(cloud, name, command,
                    env=rabbitmq_environment(cloud) if name == 'rabbitmq' else None)


def rabbitmq_environment(cloud):
    """The environment of RabbitMQ and its tools."""
    home = cloud.data / 'rabbitmq'
    erlang = '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none'
    return {
        'HOME': str(home),
        'RABBITMQ_NODENAME': 'cloud@localhost',
        'RABBITMQ_MNESIA_BASE': str(home),
        'RABBITMQ_LOG_BASE': str(cloud.log),
        'RABBITMQ_PID_FILE': str(cloud.run / 'rabbitmq.own-pid'),
        'RABBITMQ_CONFIG_FILE': str(cloud.conf / 'rabbitmq'),
        'RABBITMQ_ENABLED_PLUGINS_FILE': str(cloud.conf / 'rabbitmq-plugins'),
        'RABBITMQ_CONF_ENV_FILE': '/dev/null',
        'RABBITMQ_DIST_PORT': str(settings.PORTS['rabbitmq_cluster']),
        'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': erlang,
        'ERL_EPMD_PORT': str(settings.PORTS['epmd']),
        'ERL_EPMD_ADDRESS': '127.0.0.1',
    }
