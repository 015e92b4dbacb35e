# SPDX-License-Identifier: Apache-2.0
"""The interface to Glance's images of servers."""
import abc

from climate.cloud import models
from climate.cloud.base import face


class Images(face.Face):
    """The images of servers."""

    service = 'Glance'

    @abc.abstractmethod
    @face.read
    def made(self, key: str, project_id: str) -> list[models.Image]:
        """Return the Images that were made under `key` for a project. Only as Climate itself.

        Only images that belong to the project or to Climate count, because any user can set any
        key on an image of their own.
        """

    @abc.abstractmethod
    def give(self, image_id: str, project_id: str) -> None:
        """Make a project the owner of an image, and the image private. Only as Climate itself."""

    @abc.abstractmethod
    def delete(self, image_id: str) -> None:
        """Delete an image. Do nothing if it does not exist."""
