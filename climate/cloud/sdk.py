# SPDX-License-Identifier: Apache-2.0
"""The base class of interfaces that use openstacksdk, which is loaded only with one of them."""
import contextlib
import functools

from openstack import connection as sdk_connection
from openstack import exceptions
from openstack.config import cloud_region

from climate import errors
from climate.cloud import base

# {service: its type in the catalog, which also names its proxy}.
_TYPES = {'Cinder': 'block-storage', 'Neutron': 'network'}


class SdkInterface(base.ServiceInterface):
    """An interface whose calls openstacksdk makes with the session of its connection."""

    def __init__(self, connection):
        super().__init__(connection)
        self._connection = connection

    @functools.cached_property
    def _proxy(self):
        """The proxy of the service. It asks for the versions, so it is created by the first call.

        Connection itself passes no region on, and the first endpoint of any region would be used.
        """
        service_type = _TYPES[self.service]
        region = sdk_connection.Connection(config=cloud_region.from_conf(
            self._connection.conf, session=self._connection.session,
            service_types={service_type}, region_name=self._connection.region_name))
        return getattr(region, service_type.replace('-', '_'))

    @contextlib.contextmanager
    def _or_busy(self, kinds=exceptions.ConflictException, reason_of=str):
        """Raise StillBusy if the service refuses because of the state of an object.

        :param kinds: the class, or a tuple of classes, of these refusals.
        :param reason_of: callable(error) → the reason.
        """
        try:
            yield
        except kinds as error:
            raise errors.StillBusy(service=self.service, reason=reason_of(error)) from error
