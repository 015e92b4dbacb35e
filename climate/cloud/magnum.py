# SPDX-License-Identifier: Apache-2.0
"""Magnum: clusters, their node groups and their templates."""
import contextlib
import time
from urllib import parse

from keystoneauth1 import exceptions as keystone_errors

from climate import errors
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models

# Node groups came with 1.9, groups without nodes with 1.10.
_VERSION = '1.10'
_PAGE = 1000
# Magnum's conductor writes a new cluster after the answer; before that it is shown incompletely or
# not at all.
_SHOWN_SECONDS = 15
_POLL_SECONDS = 0.3


class MagnumClusters(base.Clusters):
    """The clusters of Magnum under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._adapter = connection.rest(default_microversion=_VERSION)

    def template(self, template_id, project_id):
        try:
            shown = self._show(f'/clustertemplates/{_quoted(template_id)}')
        except keystone_errors.Conflict:
            raise errors.BadField(field='cluster_template_id', reason=(
                f'several cluster templates are called "{template_id}": give the id of one.'
            )) from None
        if shown is None or not (shown.get('public') or shown.get('project_id') == project_id):
            return None
        # Magnum also accepts names and other spellings of an id.
        return models.ClusterTemplate(
            id=shown['uuid'], name=shown.get('name') or '',
            flavor_id=shown.get('flavor_id') or None,
            master_flavor_id=shown.get('master_flavor_id') or None)

    def cluster(self, cluster_id):
        shown = self._show(_path(cluster_id))
        return None if shown is None else _cluster(shown)

    def named(self, name, project_id):
        ids = [listed['uuid'] for listed in self._list() if listed.get('name') == name]
        clusters = [shown for cluster_id in ids
                    if (shown := self._show(_path(cluster_id))) is not None
                    and shown.get('project_id') == project_id]
        clusters.sort(key=lambda shown: shown.get('created_at') or '')
        return [_cluster(shown) for shown in clusters]

    def names(self):
        return {listed['uuid']: listed.get('name') or '' for listed in self._list()}

    def create(self, name, fields):
        body = {'name': name, **{key: value for key, value in fields.items()
                                 if value not in (None, {})}}
        if 'labels' in body:
            body['merge_labels'] = True
        with _refused():
            cluster_id = self._adapter.post('/clusters', json=body).json()['uuid']
        _await(lambda: self._is_whole(cluster_id))
        return cluster_id

    def resize(self, cluster_id, group_id, node_count, remove=()):
        with _refused():
            self._adapter.post(f'{_path(cluster_id)}/actions/resize', json={
                'node_count': node_count, 'nodegroup': group_id, 'nodes_to_remove': list(remove)})

    def delete(self, cluster_id):
        with faults.ignored_if_absent():
            self._adapter.delete(_path(cluster_id))

    def groups(self, cluster_id):
        path = f'{_path(cluster_id)}/nodegroups'
        with faults.ignored_if_absent():
            # The list leaves out the status and its reason.
            return [_group(self._adapter.get(f'{path}/{listed["uuid"]}').json())
                    for listed in self._pages(path, 'nodegroups')]
        return []

    def create_group(self, cluster_id, name, node_count, flavor_id):
        try:
            with _refused():
                self._adapter.post(f'{_path(cluster_id)}/nodegroups', json={
                    'name': name, 'node_count': node_count, 'flavor_id': flavor_id})
        except keystone_errors.Conflict as error:
            if name in {group.name for group in self.groups(cluster_id)}:
                return
            raise errors.StillBusy(service='Magnum', reason=faults.message_of(error)) from error
        _await(lambda: name in {group.name for group in self.groups(cluster_id)})

    def delete_group(self, cluster_id, group_id):
        with faults.ignored_if_absent():
            self._adapter.delete(f'{_path(cluster_id)}/nodegroups/{_quoted(group_id)}')

    def quota(self, project_id):
        used = self._adapter.get('/stats', params={'project_id': project_id}).json()['clusters']
        quota = self._adapter.get(f'/quotas/{_quoted(project_id)}/Cluster').json()
        return used, quota['hard_limit']

    def _show(self, path):
        """Return a cluster or a template as Magnum shows it, or None."""
        with faults.ignored_if_absent():
            return self._adapter.get(path).json()
        return None

    def _is_whole(self, cluster_id):
        # Before its node groups are written, Magnum answers 400 for the lack of a count.
        with contextlib.suppress(keystone_errors.BadRequest):
            return self._show(_path(cluster_id)) is not None
        return False

    def _list(self):
        return self._pages('/clusters', 'clusters')

    def _pages(self, path, key):
        listed, marker = [], {}
        while True:
            page = self._adapter.get(path, params={'limit': _PAGE, **marker}).json()
            listed += page[key]
            # The server may have a lower limit than the requested one.
            if not page[key] or not page.get('next'):
                return listed
            marker = {'marker': page[key][-1]['uuid']}


def _await(is_shown):
    """Wait until Magnum shows the accepted change, for _SHOWN_SECONDS at most."""
    deadline = time.monotonic() + _SHOWN_SECONDS
    while not is_shown() and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _quoted(text):
    return parse.quote(text, safe='')


def _path(cluster_id):
    return f'/clusters/{_quoted(cluster_id)}'


def _refused():
    """Return a context that reports Magnum's refusal of a request to its owner.

    :raises CloudError: the request is wrong, as by a label, or forbidden, as by a quota.
    """
    return faults.replaced(
        (keystone_errors.BadRequest, keystone_errors.Forbidden),
        lambda error: errors.CloudError.plain('Magnum', faults.message_of(error)))


def _cluster(shown):
    return models.Cluster(
        id=shown['uuid'], name=shown.get('name') or '', project_id=shown['project_id'],
        status=shown.get('status') or '', reason=shown.get('status_reason') or '',
        flavor_id=shown.get('flavor_id') or None)


def _group(shown):
    return models.NodeGroup(
        id=shown['uuid'], name=shown['name'], status=shown.get('status') or '',
        reason=shown.get('status_reason') or '', role=shown.get('role') or '',
        node_count=shown['node_count'], is_default=bool(shown.get('is_default')))


class RealMagnumAdapter(base.MagnumAdapter):
    """Magnum, by its REST API."""

    interfaces = {'clusters': MagnumClusters}
