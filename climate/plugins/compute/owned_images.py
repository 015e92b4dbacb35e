# SPDX-License-Identifier: Apache-2.0
"""Images of servers that Climate makes at the end of a lease, and that belong to the owner."""


def made(cloud, project_id, key, server_ids=None):
    """Return the Images that were made under `key` of servers of a project.

    All of them belong to the project afterwards: an image that Climate made as itself is given to
    the project.

    :param server_ids: the ids of these servers, if servers of other projects have the key too.
    """
    service = cloud.as_service()
    images = [each for each in service.images.made(key, project_id)
              if server_ids is None or each.server_id in server_ids]
    for image in images:
        if image.owner != project_id:
            service.images.give(image.id, project_id)
    return images
