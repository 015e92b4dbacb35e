# SPDX-License-Identifier: Apache-2.0
"""A private MariaDB: made, started and stopped."""
import shutil

from tools.cloud import commands
from tools.cloud import processes
from tools.cloud import settings

PACKAGES = ('mariadb-server',)
PORT = 24306

PATH = '/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin'
ACCOUNTS = f"""\
CREATE DATABASE IF NOT EXISTS climate_test CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS climate@'127.0.0.1' IDENTIFIED BY '{settings.PASSWORD}';
GRANT ALL ON climate_test.* TO climate@'127.0.0.1';
GRANT ALL ON climate_test_blazar.* TO climate@'127.0.0.1';
ALTER USER root@localhost IDENTIFIED BY '{settings.PASSWORD}';
"""
# A path to a socket may have 107 letters only, so it is relative to datadir.
_SETTINGS = """\
[mariadbd]
user = {user}
datadir = {data}
socket = mariadb.sock
pid-file = mariadb.own-pid
tmpdir = {run}
init-file = {conf}/mariadb.sql
bind-address = 127.0.0.1
port = {port}
skip-name-resolve
max_connections = 300
innodb_buffer_pool_size = 256M
# Quick: what is committed outlives the server, but not the machine.
innodb_flush_log_at_trx_commit = 2
innodb_flush_method = nosync
debug-no-sync
character-set-server = utf8mb4
performance_schema = OFF
log-error = {log}/mariadb.log
"""


def program():
    """The path of the server, or None."""
    return shutil.which('mariadbd', path=PATH)


def url(port=PORT):
    """The URL of the database, for SQLAlchemy."""
    return (f'mysql+pymysql://climate:{settings.PASSWORD}@127.0.0.1:{port}/climate_test'
            '?charset=utf8mb4')


def up(place, port=PORT):
    """Start it unless it runs; returns when it answers."""
    processes.refuse_taken_ports(place, [('mariadb', port)])
    data = place.data / 'mariadb'
    settings_file = place.conf / 'mariadb.cnf'
    commands.write(place.conf / 'mariadb.sql', ACCOUNTS)
    commands.write(settings_file, _SETTINGS.format(
        user=settings.user(), data=data, run=place.run, conf=place.conf, log=place.log,
        port=port))
    if not (data / 'mysql').exists():
        commands.run(place, [shutil.which('mariadb-install-db', path=PATH),
                             f'--defaults-file={settings_file}', '--skip-test-db',
                             '--auth-root-authentication-method=normal'],
                     'mariadb-install.log')
    processes.start(place, 'mariadb', [program(), f'--defaults-file={settings_file}'])
    processes.wait_for_port(place, 'mariadb', port)


def down(place):
    """Stop it; harmless when it does not run."""
    processes.stop(place, 'mariadb', grace_seconds=60)


def wipe(place):
    """Remove the data of one that does not run."""
    shutil.rmtree(place.data / 'mariadb')
