# SPDX-License-Identifier: Apache-2.0
"""A private Galera cluster: three nodes of MariaDB on loopback, made, started and stopped.

Its data are new each time: what a cluster that was stopped begins with depends on the node
that stopped last.
"""
import os
import pathlib
import shutil
import subprocess

from tools.cloud import commands
from tools.cloud import processes
from tools.cloud import settings
from tools.databases import mariadb
from tools.databases import owner

PACKAGES = ('mariadb-server', 'galera-4', 'rsync', 'lsof', 'iproute2')
# Each node has four ports in a row: for clients, for the group, for changes that it missed, and for
# the data that it gets from another node at its start.
PORTS = (24316, 24326, 24336)

_NODES = tuple((f'galera-{number}', port) for number, port in enumerate(PORTS, 1))
# rsync, with which a node gets its data, refuses to write them as root.
_USER = 'mysql'
_PROVIDER = '/usr/lib/galera/libgalera_smm.so'
# Small buffers, because three nodes share one machine. A busy machine may be silent for a while,
# so the group waits longer than by default before it drops a node.
_SETTINGS = """\
[mariadbd]
datadir = {data}
socket = mariadb.sock
pid-file = mariadb.own-pid
tmpdir = {home}
bind-address = 127.0.0.1
port = {port}
skip-name-resolve
max_connections = 200
innodb_buffer_pool_size = 64M
innodb_log_file_size = 32M
innodb_flush_log_at_trx_commit = 2
innodb_flush_method = nosync
debug-no-sync
character-set-server = utf8mb4
performance_schema = OFF
log-error = {home}/{name}.log
binlog_format = ROW
innodb_autoinc_lock_mode = 2
wsrep_on = ON
wsrep_provider = {provider}
wsrep_cluster_name = climate_test
wsrep_cluster_address = gcomm://{others}
wsrep_node_name = {name}
wsrep_node_address = 127.0.0.1
wsrep_sst_method = rsync
wsrep_sst_receive_address = 127.0.0.1:{state_port}
wsrep_sync_wait = 1
wsrep_provider_options = "base_port={group_port};gmcast.listen_addr=tcp://127.0.0.1:{group_port};\
ist.recv_addr=127.0.0.1:{rows_port};gcache.size=32M;evs.suspect_timeout=PT30S;\
evs.inactive_timeout=PT60S;evs.install_timeout=PT60S"
"""


def program():
    """The path of the server if it can be a node of Galera, or None."""
    helpers = all(shutil.which(name, path=mariadb.PATH) for name in ('rsync', 'lsof', 'ss'))
    return mariadb.program() if helpers and pathlib.Path(_PROVIDER).exists() else None


def urls():
    """The URLs of the database on each node, for SQLAlchemy."""
    return [mariadb.url(port) for port in PORTS]


def url():
    """The database on the first node."""
    return urls()[0]


def up(place):
    """Start the nodes unless they run; returns when all of them are in one group."""
    if all(processes.pid_of(place, name) for name, _ in _NODES):
        return
    down(place)
    home = owner.home(place, 'galera', _USER)
    for number, (name, port) in enumerate(_NODES, 1):
        processes.refuse_taken_ports(place, [(name, each) for each in range(port, port + 4)])
        settings_file = _make(place, home, name, port)
        command = [program(), f'--defaults-file={settings_file}']
        if number == 1:
            # It is a group by itself, which the others join, and makes the accounts for all.
            command += ['--wsrep-new-cluster', f'--init-file={home}/accounts.sql']
        processes.start(place, name, owner.command(home, _USER, command))
        processes.wait_for_port(place, name, port)
        commands.wait(lambda at=port, size=number: _size(at) == size,
                      f'{name} to be one of {number} nodes; see {home}/{name}.log')


def down(place):
    """Stop the nodes, and remove their data; harmless when they do not run."""
    for name, _ in reversed(_NODES):
        processes.stop(place, name, grace_seconds=60)
    if program() is not None:
        shutil.rmtree(owner.home(place, 'galera', _USER))


def _make(place, home, name, port):
    """Make the data of a node, all of it in `home`; returns the path of its settings."""
    settings_file = home / f'{name}.cnf'
    commands.write(home / 'accounts.sql', mariadb.ACCOUNTS)
    commands.write(settings_file, _SETTINGS.format(
        home=home, data=home / name, port=port, name=name, provider=_PROVIDER,
        others=','.join(f'127.0.0.1:{other + 1}' for other in PORTS if other != port),
        group_port=port + 1, rows_port=port + 2, state_port=port + 3))
    commands.run(place, owner.command(home, _USER, [
        shutil.which('mariadb-install-db', path=mariadb.PATH),
        f'--defaults-file={settings_file}', '--skip-test-db',
        '--auth-root-authentication-method=normal']), f'{name}-install.log')
    return settings_file


def _size(port):
    """Return the number of nodes in the group of a node; 0 while it is in none."""
    asked = subprocess.run(
        [shutil.which('mariadb', path=mariadb.PATH), '--no-defaults', '--host=127.0.0.1',
         f'--port={port}', '--user=climate', '--batch', '--skip-column-names', '--execute',
         "SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_size')"],
        env=dict(os.environ, MYSQL_PWD=settings.PASSWORD), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False)
    found = dict(line.split('\t') for line in asked.stdout.splitlines())
    return int(found['wsrep_cluster_size']) if found.get('wsrep_ready') == 'ON' else 0
