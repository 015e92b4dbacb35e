# SPDX-License-Identifier: Apache-2.0
"""The commands for the cloud: up, down, status, reset, restart."""
import dataclasses
import datetime
import shutil

from tools.cloud import climate_service
from tools.cloud import commands
from tools.cloud import configure
from tools.cloud import install
from tools.cloud import processes
from tools.cloud import programs
from tools.cloud import schemas
from tools.cloud import services
from tools.cloud import settings


def up(cloud):
    """Install, configure and start whatever is not there yet; returns when servers can boot."""
    began = datetime.datetime.now(datetime.UTC)
    install.install(cloud)
    install.check_filters(cloud)
    if not _stamp(cloud).exists():
        _forget_unfinished(cloud)
    processes.refuse_taken_ports(cloud, cloud.listeners)
    configure.configure(cloud)
    programs.start(cloud)
    commands.say('MariaDB, RabbitMQ, memcached and nginx listen')
    if not _stamp(cloud).exists() or _stamp(cloud).read_text() != _shape(cloud):
        _create(cloud)
    nova_ran = bool(processes.pid_of(cloud, 'nova'))
    for name in services.names(cloud):
        services.start(cloud, name)
    for name in services.names(cloud):
        services.wait_until_well(cloud, name)
        commands.say(f'{name} answers')
    if not nova_ran:
        services.wait_for_computes(cloud, began.strftime('%Y-%m-%d %H:%M:%S'))
    services.wait_for_workers(cloud, cloud.optional)
    if not _stamp(cloud).exists() or _stamp(cloud).read_text() != _shape(cloud):
        commands.together([lambda: services.discover_hosts(cloud),
                           lambda: services.fill_resources(cloud)], width=2)
        commands.write(_stamp(cloud), _shape(cloud))
        commands.say('hosts mapped; flavors, images and networks made')
    commands.say(f'the cloud is up: {cloud.folder}/clouds.yaml, {cloud.folder}/openrc')


def _stamp(cloud):
    """Written when the cloud has all its data; it says of what shape."""
    return cloud.data / '.complete'


def _shape(cloud):
    return ','.join([*cloud.compute_hosts, *cloud.optional])


def _forget_unfinished(cloud):
    """An `up` that was cut short left data that nobody wants; a new start is quick."""
    down(cloud)
    shutil.rmtree(cloud.data)
    cloud.data.mkdir()


def _create(cloud):
    """Make what is missing of the tables, users and catalog; harmless when repeated."""
    schemas.create(cloud)
    commands.say('schemas made')
    services.start(cloud, 'keystone')
    services.wait_until_well(cloud, 'keystone')
    services.fill_identity(cloud)
    commands.say('users and catalog made')


def down(cloud):
    """Stop every process, those of guests as well; the data stay."""
    for folder in (cloud.folder / 'guests').glob('*'):
        climate_service.down(dataclasses.replace(cloud, climate_name=folder.name))
    while processes.names(cloud):
        upper = [name for name in processes.names(cloud) if name not in programs.NAMES]
        commands.together([lambda name=name: processes.stop(cloud, name, grace_seconds=5)
                           for name in upper], width=16)
        for name in programs.NAMES:
            processes.stop(cloud, name, grace_seconds=30)
    commands.say('everything is stopped')


def reset(cloud):
    """Stop everything and drop all data; `up` begins from nothing, in the same virtualenv."""
    down(cloud)
    shutil.rmtree(cloud.data, ignore_errors=True)
    shutil.rmtree(cloud.log, ignore_errors=True)


def restart(cloud, names):
    """Stop and start single processes, with new configuration files."""
    known = [*programs.NAMES, *services.names(cloud), *services.nova_children(cloud),
             *climate_service.NAMES]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise settings.CloudError(
            f'Cannot restart {", ".join(unknown) or "nothing"}. Known: {", ".join(known)}.')
    install.check_filters(cloud)
    configure.configure(cloud)
    for name in names:
        family = [name, *(services.nova_children(cloud) if name == 'nova' else [])]
        commands.together([lambda member=member: processes.stop(cloud, member, grace_seconds=5)
                           for member in family], width=16)
        _start_again(cloud, name)
        commands.say(f'{name} is back')


def _start_again(cloud, name):
    if name in programs.NAMES:
        programs.start_one(cloud, name)
        processes.wait_for_port(cloud, name, settings.PORTS[name])
    elif name in climate_service.NAMES:
        climate_service.write_conf(cloud)
        climate_service.start(cloud, name)
        climate_service.wait_until_well(cloud, name)
    else:
        services.start(cloud, name)
        services.wait_until_well(cloud, name)
        services.wait_for_workers(cloud, {name.partition('-')[0]} & set(cloud.optional))


def status(cloud):
    """Print each process and each API; returns whether all of the cloud is well."""
    expected = [*programs.NAMES, *services.names(cloud), *services.nova_children(cloud)]
    total = 0
    well = True
    for name in dict.fromkeys([*expected, *processes.names(cloud)]):
        pid = processes.pid_of(cloud, name)
        memory = processes.memory_mib(pid) if pid else 0
        total += memory
        well = well and pid is not None
        print(f'{name:20} {f"pid {pid}" if pid else "NOT RUNNING":12} {memory:6.0f} MiB')
    for name, path in cloud.apis.items():
        answers = processes.answers(settings.url(name, path))
        well = well and answers
        print(f'{settings.url(name, path):40} {"answers" if answers else "DOES NOT ANSWER"}')
    print(f'{total:.0f} MiB in all')
    return well
