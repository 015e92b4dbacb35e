# SPDX-License-Identifier: Apache-2.0
"""The names of errors about hosts and servers, also of errors that came over the bus."""
import sys

from oslo_messaging._drivers import common
import pytest

from climate import errors
from climate.api import error_names
from climate.rpc import transport


@pytest.mark.parametrize('error, code', [
    (errors.TargetGone('Gone.', kind='server', target_id='s'), 'server_not_found'),
    (errors.TargetGone(kind='share', target_id='s'), 'target_gone'),
    (errors.ResourceNotFound(pool='host', resource='7'), 'host_not_found'),
    (errors.ResourceNotFound(pool='address', resource='7'), 'resource_not_found'),
    (errors.ResourceInUse(pool='host', resource='7', reason='No.'), 'host_in_use'),
])
def test_an_error_has_the_same_name_whether_it_came_over_the_bus_or_not(error, code):
    assert error_names.code(error) == code
    try:
        raise error
    except errors.ClimateError:
        sent = common.serialize_remote_exception(sys.exc_info())
    arrived = common.deserialize_remote_exception(sent, transport.ALLOWED_ERRORS)
    assert type(arrived) is not type(error)
    assert error_names.code(arrived) == code
