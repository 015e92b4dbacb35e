# SPDX-License-Identifier: Apache-2.0
"""Glance: the images of servers."""
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models
from climate.cloud import servers

_PATCH = 'application/openstack-images-v2.1-json-patch'


class Images(base.Images):
    """Glance under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._adapter = link.rest(version='2')

    def made(self, key, project_id):
        # To an administrator Glance lists the images of all projects.
        owners = {project_id, self._adapter.get_project_id()}
        found = []
        page = self._page(key)
        while page:
            found += [_image(each) for each in page if each['owner'] in owners]
            page = self._page(key, marker=page[-1]['id'])
        return found

    def give(self, image_id, project_id):
        # Nova shares an image that one project makes of another's server; the owner needs no share.
        wanted = {'/owner': project_id, '/visibility': 'private'}
        self._adapter.patch(
            f'/images/{image_id}', headers={'Content-Type': _PATCH},
            json=[{'op': 'replace', 'path': path, 'value': value}
                  for path, value in wanted.items()])

    def delete(self, image_id):
        with faults.ignored_if_absent():
            self._adapter.delete(f'/images/{image_id}')

    def _page(self, key, **marker):
        answer = self._adapter.get('/images', params={servers.IMAGE_KEY: key, **marker})
        return answer.json()['images']


def _image(found):
    return models.Image(id=found['id'], name=found['name'] or '', status=found['status'],
                        owner=found['owner'], server_id=found.get(servers.SERVER_KEY))
