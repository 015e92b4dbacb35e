# SPDX-License-Identifier: Apache-2.0
"""Glance: the images of servers."""
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models
from climate.cloud import servers

_PATCH = 'application/openstack-images-v2.1-json-patch'


class GlanceImages(base.Images):
    """Glance under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._adapter = connection.rest(version='2')

    def made(self, key, project_id):
        # Glance lists the images of all projects to an administrator.
        owners = {project_id, self._adapter.get_project_id()}
        images = []
        page = self._page(key)
        while page:
            images += [_image(shown) for shown in page if shown['owner'] in owners]
            page = self._page(key, marker=page[-1]['id'])
        return images

    def give(self, image_id, project_id):
        # Nova shares an image if one project creates it of another's server; the owner needs no
        # share.
        fields = {'/owner': project_id, '/visibility': 'private'}
        self._adapter.patch(
            f'/images/{image_id}', headers={'Content-Type': _PATCH},
            json=[{'op': 'replace', 'path': path, 'value': value}
                  for path, value in fields.items()])

    def delete(self, image_id):
        with faults.ignored_if_absent():
            self._adapter.delete(f'/images/{image_id}')

    def _page(self, key, **marker):
        answer = self._adapter.get('/images', params={servers.IMAGE_KEY: key, **marker})
        return answer.json()['images']


def _image(shown):
    return models.Image(id=shown['id'], name=shown['name'] or '', status=shown['status'],
                        owner=shown['owner'], server_id=shown.get(servers.SERVER_KEY))


class RealGlanceAdapter(base.GlanceAdapter):
    """Glance, by its REST API."""

    interfaces = {'images': GlanceImages}
