# SPDX-License-Identifier: Apache-2.0
"""What is alike in all that lease room for instances, however its size is told."""
import abc

from climate.plugins import base
from climate.plugins import room
from climate.plugins import room_audit


class RoomPlugin(base.ResourcePlugin):
    """Room in the cloud, of the sizes that a subclass tells."""

    def start(self, cloud, lease, reservation, resources):
        return room.start(self.conf, cloud, lease, reservation, resources,
                          *self.sizes_and_specs(reservation))

    def end(self, cloud, lease, reservation, resources):
        room.end(cloud, lease, reservation)

    def traces(self, picture):
        return room_audit.traces(self.conf, picture, self.resource_type)

    def lacks(self, picture, lease, reservation, resources):
        return room_audit.lacks(self.conf, picture, lease, reservation, resources)

    def complete(self, cloud, lease, reservation, resources):
        return room.complete(self.conf, cloud, lease, reservation, resources,
                             *self.sizes_and_specs(reservation))

    def clear(self, cloud, made_for, resources):
        room.clear(cloud, made_for)

    @abc.abstractmethod
    def sizes_and_specs(self, reservation):
        """(the sizes of the private flavor, its extra specs), as ``room.start`` takes them."""
