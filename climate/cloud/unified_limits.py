# SPDX-License-Identifier: Apache-2.0
"""The unified limits of Keystone, read by oslo.limit with the login of [oslo_limit].

oslo.limit itself refuses every resource without a registered limit. Climate only uses it to read
limits, so that a resource without one is not limited.
"""
import functools

from keystoneauth1 import exceptions as keystone_errors
from openstack import exceptions as sdk_errors
from oslo_limit import exception as limit_errors
from oslo_limit import limit

from climate import errors
from climate.cloud import faults


def of_project(project_id):
    """Return {name of the resource: maximum} of a project; its own limits replace the defaults.

    :raises CloudError: [oslo_limit] is wrong, or its login may not read limits.
    :raises CloudUnreachable: Keystone does not answer.
    """
    with faults.replaced((limit_errors.SessionInitError, sdk_errors.SDKException, ValueError,
                          NotImplementedError), _as_cloud_error):
        enforcer = _enforcer()
        return {**dict(enforcer.get_registered_limits(None)),
                **dict(enforcer.get_project_limits(project_id, None))}


@functools.cache
def _enforcer():
    """Return the Enforcer of this process; only a successful login is kept."""
    # Climate counts the use itself, in the transaction of each booking.
    return limit.Enforcer(lambda project_id, names: dict.fromkeys(names, 0), cache=False)


def _as_cloud_error(error):
    cause = error.__context__ if isinstance(error, limit_errors.SessionInitError) else error
    if isinstance(cause, (keystone_errors.ConnectFailure, keystone_errors.DiscoveryFailure)):
        return errors.CloudUnreachable(service='Keystone', reason=f'{cause}')
    return errors.CloudError(service='Keystone', reason=(
        f'The unified limits cannot be read: {cause}. Check the group [oslo_limit].'))
