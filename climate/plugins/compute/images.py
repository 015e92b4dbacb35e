# SPDX-License-Identifier: Apache-2.0
"""Images of servers that Climate makes at the end of a lease, and that belong to the owner."""


def made(cloud, lease, key):
    """Return the Images that were made under `key` for a lease.

    All of them belong to the project of the lease afterwards: an image that Climate made as itself
    is given to the project.
    """
    service = cloud.as_service()
    images = service.images.made(key, lease.project_id)
    for image in images:
        if image.owner != lease.project_id:
            service.images.give(image.id, lease.project_id)
    return images


def ensure(cloud, lease, key, server_id, name):
    """Begin an image of a server for the project of the lease, unless one was made under `key`.

    :raises TargetGone: the server is gone.
    :raises StillBusy: something else is being done to the server.
    """
    if made(cloud, lease, key):
        return
    maker = cloud.as_owner_or_service()
    maker.servers.create_image(server_id, name, key)
    if maker is cloud.as_service():
        made(cloud, lease, key)
