# SPDX-License-Identifier: Apache-2.0
"""Images that Climate makes for the owner at the end of a lease."""

#: The statuses in Glance of a complete image. Administrators can deactivate images.
FINISHED = ('active', 'deactivated')
#: The statuses of an image that can still become active.
UNFINISHED = ('queued', 'saving', 'uploading', 'importing')


def made(cloud, project_id, key, server_ids=None):
    """Return the Images with `key` of the servers of a project.

    If Climate owns an image, the project becomes its owner.

    :param server_ids: only images of these servers; None: of all servers.
    """
    service = cloud.as_service().images
    images = [image for image in service.made(key, project_id)
              if server_ids is None or image.server_id in server_ids]
    for image in images:
        if image.owner != project_id:
            service.give(image.id, project_id)
    return images
