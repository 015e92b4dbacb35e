# SPDX-License-Identifier: Apache-2.0
"""The adapters of a box store, a real one and a simulated one."""
import abc

from oslo_config import cfg

from climate.cloud import base
from climate.conf import client


class BoxError(Exception):
    """The error of the library of the box store."""


class Boxes(base.ServiceInterface):
    """The interface to boxes."""

    service = 'Box store'

    @abc.abstractmethod
    @base.read
    def names(self):
        """Return the names of all boxes."""

    @abc.abstractmethod
    def add(self, name):
        """Add a box."""


class BoxStore(base.Adapter):
    """The base class of the real and the simulated adapter."""

    options = client.Client('boxes', 'The box store', 'box-store',
                            (cfg.IntOpt('most', default=10, min=1, help='Most boxes.'),))

    @staticmethod
    def probe(services):
        return services.boxes.names()


class RealBoxes(Boxes):
    """Boxes behind HTTP."""

    def __init__(self, connection):
        super().__init__(connection)
        self._most = connection.options.most
        self._rest = connection.rest()

    def names(self):
        return self._rest.get('/boxes').json()[:self._most]

    def add(self, name):
        if name == 'cursed':
            raise BoxError('It bites.')
        self._rest.put(f'/boxes/{name}')


class RealStore(BoxStore):
    """The entry point in climate.cloud.openstack."""

    interfaces = {'boxes': RealBoxes}
    foreign = (BoxError,)


class SimulatedBoxes(Boxes):
    """Boxes in the state of the simulated cloud."""

    def __init__(self, connection):
        super().__init__(connection)
        self._cloud = connection

    def names(self):
        return self._cloud.call('boxes.names', lambda connection, project_id: [
            row['name'] for row in connection.execute('SELECT name FROM boxes ORDER BY name')])

    def add(self, name):
        self._cloud.call('boxes.add', lambda connection, project_id: connection.execute(
            'INSERT INTO boxes VALUES (?)', (name,)))


class SimulatedStore(BoxStore):
    """The entry point in climate.cloud.simulated."""

    interfaces = {'boxes': SimulatedBoxes}
    tables = ('CREATE TABLE IF NOT EXISTS boxes (name TEXT PRIMARY KEY)',)
