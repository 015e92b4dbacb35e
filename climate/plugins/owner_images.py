# SPDX-License-Identifier: Apache-2.0
"""Images that Climate makes at the end of a lease, and that belong to the owner."""

#: The statuses in Glance of an image that has all data. Administrators can deactivate images.
FINISHED = ('active', 'deactivated')
#: The statuses of an image that can still become active.
UNFINISHED = ('queued', 'saving', 'uploading', 'importing')


def made(cloud, project_id, key, server_ids=None):
    """Return the Images with `key` of the servers of a project.

    An image that Climate owns is first given to the project.

    :param server_ids: the ids of the servers, if servers of other projects share the key.
    """
    service = cloud.as_service().images
    images = [image for image in service.made(key, project_id)
              if server_ids is None or image.server_id in server_ids]
    for image in images:
        if image.owner != project_id:
            service.give(image.id, project_id)
    return images
