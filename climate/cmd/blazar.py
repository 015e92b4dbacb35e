# SPDX-License-Identifier: Apache-2.0
"""climate-db import-blazar and export-blazar: move from Blazar, and return to it."""
import pathlib

from climate import cloud as clouds
from climate.cmd import blazar_cloud
from climate.db.blazar import conversion
from climate.db.blazar import export_limits
from climate.db.blazar import exporting
from climate.db.blazar import importing
from climate.db.blazar import report
from climate.db.blazar import row_changes
from climate.db.blazar import source
from climate.manager import core
from climate.manager.leases import objects_ahead
from climate.plugins import registry

_TARGET = '--target'


def add_commands(subparsers):
    """Add the commands of this module to those of climate-db."""
    importing_ = subparsers.add_parser('import-blazar', help=(
        'Import hosts, addresses and leases from a database of Blazar.'))
    importing_.add_argument('--source', required=True, metavar='URL', help=(
        'The database of Blazar, such as mysql+pymysql://blazar:PASSWORD@controller/blazar. It is '
        'only read.'))
    _add_options(importing_, 'imported', (
        'Import although leases, hosts or properties are left out, or leases lose resources that '
        'Blazar allocated twice.'))
    importing_.add_argument('--while-running', action='store_true', help=(
        'Import although programs are connected to the database of Blazar, to repeat it later.'))
    importing_.set_defaults(run=_import)
    exporting_ = subparsers.add_parser('export-blazar', help=(
        'Write the leases back to the database of Blazar from which they were imported.'))
    exporting_.add_argument(_TARGET, required=True, metavar='URL', help=(
        'The database of Blazar, such as mysql+pymysql://blazar:PASSWORD@controller/blazar. It is '
        'changed in one transaction.'))
    _add_options(exporting_, 'exported', 'Export although leases are left out.')
    exporting_.set_defaults(run=_export)


def _add_options(command, done, accept_losses):
    command.add_argument('--dry-run', action='store_true', help=f'Only show what would be {done}.')
    command.add_argument('--report', metavar='FILE', help='Write the report to a file, too.')
    command.add_argument('--accept-losses', action='store_true', help=accept_losses)


def _import(conf, database):
    read, now = source.read(conf.command.source), database.now()
    plugins = registry.Registry(conf)
    converted = blazar_cloud.compared(conf, plugins, conversion.convert(read, plugins, now))
    _show(conf, report.lines(converted))
    if conf.command.dry_run:
        print('\nNothing was written, because of --dry-run.')
        return
    if read.connections and not conf.command.while_running:
        raise SystemExit(
            f'climate-db import-blazar: {read.connections} other programs are connected to the '
            'database of Blazar: stop blazar-manager and blazar-api, or say --while-running and '
            'repeat the import after the stop. Nothing was written.')
    lost = converted.overlaps or any(problem.is_loss for problem in converted.problems)
    if lost and not conf.command.accept_losses:
        raise SystemExit(
            'climate-db import-blazar: some leases would lose their resources, or leases, hosts or '
            'properties would be left out, see above: change them in Blazar, or say '
            '--accept-losses. Nothing was written.')
    importing.refuse_running(database, now)
    counts = importing.write(database, converted, now)
    print(f'\nEnrolled {counts.resources} resources. Leases: {counts.added} added, '
          f'{counts.updated} updated, {counts.unchanged} unchanged, {counts.deleted} deleted '
          f'because Blazar has deleted them, {counts.kept} kept because Climate acts on them.')


def _export(conf, database):
    with source.opened(conf.command.target, _TARGET) as blazar:
        read, now = blazar.read(), database.now()
        chosen = exporting.choose(exporting.read(database, read), read, conf)
        _show(conf, report.export_lines(chosen))
        if conf.command.dry_run:
            print('\nNothing was written, because of --dry-run.')
            return
        blazar.refuse_connected(read.connections)
        importing.refuse_running(database, now)
        _refuse_losses(conf, chosen.problems)
        bindings, failed = _stage(conf, database, chosen.pending)
        if failed:
            chosen = chosen.without(failed)
            _show(conf, report.export_lines(chosen))
            _refuse_losses(conf, chosen.problems)
        changes = exporting.changes(chosen, read, bindings, now)
        with blazar.writer() as connection:
            row_changes.write(connection, changes, read.columns)
    print(f'\nWrote {len(chosen.leases)} leases to Blazar, deleted {len(chosen.deleted)}. Rows: '
          f'{row_changes.counts(changes)}.')


def _show(conf, lines):
    """Print a report; write it to the file of --report, too."""
    text = '\n'.join(lines)
    print(text)
    if conf.command.report:
        try:
            pathlib.Path(conf.command.report).write_text(text + '\n', encoding='utf-8')
        except OSError as error:
            raise SystemExit(
                f'climate-db {conf.command.name}: --report: {error}. Nothing was written; name a '
                'file that can be written.') from error


def _refuse_losses(conf, problems):
    if any(problem.is_loss for problem in problems) and not conf.command.accept_losses:
        raise SystemExit(
            'climate-db export-blazar: some leases would be left out, see above: follow the '
            'advice, or say --accept-losses. Nothing was written to the database of Blazar.')


def _stage(conf, database, leases):
    """Create the objects that Blazar expects in the cloud before its leases start.

    :param leases: the Leases that have not started.
    :returns: ({reservation id: its binding with the objects}, {id of a failed lease: Problem}).
    """
    if not leases:
        return {}, {}
    plugins = registry.Registry(conf)
    bindings, failed = objects_ahead.create(
        core.Core(conf=conf, database=database, cloud=clouds.build(conf, plugins.services),
                  registry=plugins, clock=database.now), leases)
    return bindings, {lease.id: export_limits.left_out(
        lease, f'Its objects could not be created in the cloud: {failed[lease.id].message}',
        'Solve this, and repeat the export.') for lease in leases if lease.id in failed}
