# SPDX-License-Identifier: Apache-2.0
"""The connections of openstacksdk."""
from openstack import connection
from openstack.config import cloud_region


def connected(link, service_type):
    """Return a Connection for one type of service, which calls it with the session of `link`.

    Its proxy asks the service for its versions, so it is a part of the first call.
    """
    # Connection itself passes no region on, and the first endpoint of any region would be used.
    return connection.Connection(config=cloud_region.from_conf(
        link.conf, session=link.session, service_types={service_type},
        region_name=link.region_name))
