# SPDX-License-Identifier: Apache-2.0
"""The face of Glance: the images of servers."""
import abc


class Images(abc.ABC):
    """The images of servers, which Glance keeps."""

    service = 'Glance'

    @abc.abstractmethod
    def made(self, key, project_id):
        """The Images that were made under `key` for a project, as a list; as the service only.

        They are the project's, or Climate's own. Other people's are not among them: anybody can
        write any key on an image.
        """

    @abc.abstractmethod
    def give(self, image_id, project_id):
        """Make a project the owner of an image, which is private then; as the service only."""

    @abc.abstractmethod
    def delete(self, image_id):
        """Delete an image; one that is not there is done."""
