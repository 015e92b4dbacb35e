# SPDX-License-Identifier: Apache-2.0
"""climate-db: create, upgrade and purge the database, confirm its clock, encrypt its secrets.

It also moves leases from Blazar and back; see ``climate.cmd.blazar``.
"""
import argparse
import datetime
import sys

from oslo_config import cfg
from oslo_log import log

from climate import conf as configuration
from climate.cmd import blazar
from climate.cmd import start
from climate.db import engine
from climate.db import managers
from climate.db import migrate
from climate.domain import heartbeat
from climate.manager.limits import retention
from climate.manager.notifications import encryption
from climate.manager.usage import days

# The maximum number of subscriptions that an error names.
_SHOWN = 20


def _upgrade(conf, database):
    if conf.command.expand:
        migrate.expand(database)
    else:
        _refuse_older_managers(conf, database)
        try:
            migrate.upgrade(database, conf.command.revision)
        except migrate.NoSuchRevision as error:
            raise SystemExit(f'climate-db upgrade: {error}') from error
    print(migrate.version(database))


def _refuse_older_managers(conf, database):
    """Refuse to upgrade tables whose present form a running manager of an older release needs."""
    if migrate.version(database) in (None, migrate.newest()):
        return
    with database.reader() as connection:
        rows = managers.in_older_tables(connection)
    older = [manager.id for manager in heartbeat.with_liveness(
        rows, database.now(), conf.manager.claim_seconds)
        if manager.up and (manager.tables_revision or '') < migrate.expanded()]
    if older:
        raise SystemExit(
            f'climate-db upgrade: managers of an older release run: {", ".join(older)}. Stop them '
            f'and repeat the command (a killed manager counts for {heartbeat.SILENCE_SECONDS} '
            'seconds), or upgrade without an interruption: "climate-db upgrade --expand" keeps '
            'what they need.')


def _version(conf, database):
    print(migrate.version(database) or 'none: run "climate-db upgrade"')


def _purge(conf, database):
    before = _day(conf.command.before) if conf.command.before else _days_ago(
        database.now(), conf.command.days)
    # First count the usage of the days that managers have not closed yet.
    days.close(database, database.now(), most=None)
    with database.reader() as connection:
        counted = retention.counted_since(connection, database.now())
    count = migrate.purge(database, before, reports_ends=bool(conf.enforcement.driver),
                          counted_since=counted and counted.since)
    print(f'Removed {count} leases that ended or were deleted before {before:%Y-%m-%d} UTC.')
    if counted is not None and counted.since < before:
        print(f'Kept the leases that were over after {counted.since:%Y-%m-%d %H:%M} UTC, because '
              f'the limit "{counted.limit}" of version {counted.version} of the limit book counts '
              'them.')


def _confirm_clock(conf, database):
    now = database.now()
    with database.writer() as connection:
        managers.confirm_clock(connection, now)
    print(f'Confirmed: the clock of the database says {now:%Y-%m-%d %H:%M:%S} UTC. Managers that '
          'doubted it continue within some seconds.')


def _new_key(_conf, _database):
    print(encryption.new_key())


def _encrypt_secrets(conf, database):
    if not conf.notifications.encryption_keys:
        raise SystemExit('climate-db: [notifications] encryption_keys is empty; "climate-db '
                         'new-key" prints a key for it.')
    count, lost = encryption.KeyEncryption(conf).encrypt_all(database)
    print(f'Encrypted {count} keys of webhooks by the first key of [notifications] '
          'encryption_keys.')
    if lost:
        shown = ', '.join(lost[:_SHOWN]) + (' …' if len(lost) > _SHOWN else '')
        raise SystemExit(
            'climate-db: no key of [notifications] encryption_keys decrypts the keys of '
            f'{len(lost)} subscriptions, which are as they were: {shown}. Add the key that '
            'encrypted them behind the first one and run this again, or ask their users to renew '
            'their secrets.')


def _day(text):
    try:
        return datetime.datetime.strptime(text, '%Y-%m-%d').replace(tzinfo=datetime.UTC)
    except ValueError:
        raise SystemExit(f'--before: "{text}" is not a date; write 2030-05-01.') from None


def _days_ago(now, days):
    try:
        before = now - datetime.timedelta(days=days)
    except OverflowError:
        raise SystemExit(f'--days: {days} days ago there was no calendar; write 180.') from None
    return before.replace(hour=0, minute=0, second=0, microsecond=0)


def _natural(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number of days; write 180.')
    return int(text)


def _add_commands(subparsers):
    upgrade = subparsers.add_parser('upgrade', help='Create the tables, or upgrade them.')
    target = upgrade.add_mutually_exclusive_group()
    target.add_argument('revision', nargs='?', default='head')
    target.add_argument('--expand', action='store_true', help=(
        'Only add what this release needs. Managers of the earlier release may run on; repeat '
        'the command without --expand when they have stopped.'))
    upgrade.set_defaults(run=_upgrade)
    version = subparsers.add_parser('version', help='Show the revision of the tables.')
    version.set_defaults(run=_version)
    purge = subparsers.add_parser('purge', help='Remove old leases and refusals.')
    kept = purge.add_mutually_exclusive_group(required=True)
    kept.add_argument('--before', metavar='YYYY-MM-DD',
                      help='Remove leases that ended or were deleted before this day (UTC).')
    kept.add_argument('--days', type=_natural, metavar='N',
                      help='Remove leases that ended or were deleted more than N days ago (UTC).')
    purge.set_defaults(run=_purge)
    confirm = subparsers.add_parser('confirm-clock', help=(
        'Confirm that the clock of the database is right, after managers doubted it.'))
    confirm.set_defaults(run=_confirm_clock)
    new_key = subparsers.add_parser('new-key', help=(
        'Print a new key for [notifications] encryption_keys.'))
    new_key.set_defaults(run=_new_key)
    encrypt = subparsers.add_parser('encrypt-secrets', help=(
        'Encrypt all keys of webhooks again, by the first of [notifications] encryption_keys.'))
    encrypt.set_defaults(run=_encrypt_secrets)
    blazar.add_commands(subparsers)


def main():
    """Carry out one command."""
    cfg.CONF.register_cli_opt(cfg.SubCommandOpt(
        'command', title='Commands', handler=_add_commands))
    conf = configuration.load(sys.argv[1:], 'climate-db')
    log.setup(conf, 'climate')
    if conf.command.name is None:
        raise SystemExit('A command is missing: climate-db upgrade, version, purge, confirm-clock, '
                         'new-key, encrypt-secrets, import-blazar or export-blazar (see '
                         '--help).')
    with start.refusing('climate-db'), engine.refusals():
        conf.command.run(conf, engine.connect(conf))
