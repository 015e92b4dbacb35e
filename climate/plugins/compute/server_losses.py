# SPDX-License-Identifier: Apache-2.0
"""Servers that an end or a change of a lease deletes or stops."""
from climate.domain import losses


def of_servers(servers, fate=losses.DELETED, saved=False):
    """Return the Losses of Servers.

    :param saved: whether an image of each is made first.
    """
    return [losses.Loss('server', server.id, server.name, server.project_id, fate, saved,
                        server.hypervisor or server.host) for server in servers]
