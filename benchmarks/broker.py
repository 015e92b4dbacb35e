# SPDX-License-Identifier: Apache-2.0
"""A RabbitMQ of our own on loopback, for a while."""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests' / 'faults'))

from chaos import servers

from tools.cloud import settings

_PROGRAM = pathlib.Path('/usr/lib/rabbitmq/bin/rabbitmq-server')


def is_installed():
    """Return whether there is a RabbitMQ on this machine."""
    return _PROGRAM.exists()


@contextlib.contextmanager
def running(folder):
    """The transport_url of a RabbitMQ that has its files in `folder`."""
    folder = folder / 'broker'
    place = settings.Settings(folder=folder, venv=folder / 'venv', venv_is_shared=False,
                              climate_venv=settings.CHECKOUT / '.venv')
    place.make_folders()
    ports = servers.free_ports(3)
    mapper = servers.epmd(place, ports[2])
    program, transport = servers.broker(place, *ports)
    mapper.up()
    try:
        program.up()
        yield transport
    finally:
        program.kill()
        mapper.kill()
