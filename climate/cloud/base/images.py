# SPDX-License-Identifier: Apache-2.0
"""The interface to Glance's images of servers."""
import abc
from typing import Any

from climate.cloud import models
from climate.cloud.base import interface
from climate.conf import services


class Images(interface.ServiceInterface):
    """The images of servers."""

    service = 'Glance'

    @abc.abstractmethod
    @interface.read
    def made(self, key: str, project_id: str) -> list[models.Image]:
        """Return the Images that were created under `key` for a project. Only as Climate itself.

        Only images that belong to the project or to Climate count, because any user can set any
        key on an image of their own.
        """

    @abc.abstractmethod
    def give(self, image_id: str, project_id: str) -> None:
        """Make a project the owner of an image, and the image private. Only as Climate itself."""

    @abc.abstractmethod
    def delete(self, image_id: str) -> None:
        """Delete an image. Do nothing if it does not exist."""


class GlanceAdapter(interface.Adapter):
    """The options and the probe of Glance."""

    options = services.GLANCE

    @staticmethod
    def probe(services: Any) -> object:
        return services.images.made('climate-status', 'climate-status')
