# SPDX-License-Identifier: Apache-2.0
"""How much of leased volumes, and of leased room for volumes, is used: what is attached."""
import collections

from climate.domain import use_sampling
from climate.plugins.volume import names


def of_volumes(cloud, parts):
    """Return {key: Use}: the share of the room, or of the volume, that is attached to servers."""
    volumes = cloud.as_service().volumes.every()
    known = {each.id: each for each in volumes}
    attached_gb = collections.Counter()
    for each in volumes:
        if each.server_ids:
            attached_gb[each.type_name] += each.size_gb
    found = {}
    for part in parts:
        request = part.reservation.request
        if request['resource_id'] is not None:
            volume = known.get(request['resource_id'])
            if volume is not None:
                found[part.key] = use_sampling.of_share(len(volume.server_ids), 1)
        elif part.resource is not None:
            name = names.type_name(part.reservation.id, part.resource.id)
            found[part.key] = use_sampling.of_share(attached_gb[name],
                                                    request['size_gb'] * part.copies)
    return found
