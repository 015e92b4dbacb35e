# SPDX-License-Identifier: Apache-2.0
"""A nova-api for the simulated cloud: as much as boots and shows servers, behind the real filter.

Unlike Nova it says at once, with 409, that no host takes a server.
"""
import contextlib
import importlib
import pathlib
import re
import sys
import threading
import types
import uuid

from oslo_config import cfg
import waitress
import webob
import webob.dec

from climate import errors

_VERSION = 'v2.1'


@contextlib.contextmanager
def served(cloud, climate_url, folder):
    """Serve a SimulatedCloud on loopback, with a nova.conf in `folder`; gives the address."""
    nova_conf = pathlib.Path(folder, 'nova.conf')
    nova_conf.write_text(f'[climate]\nendpoint_override = {climate_url}\n')
    lease_filter = _filter_factory(nova_conf)({})
    server = waitress.create_server(_Identity(lease_filter(_Servers(cloud))), host='127.0.0.1',
                                    port=0)
    threading.Thread(target=server.run, daemon=True).start()
    try:
        yield f'http://127.0.0.1:{server.effective_port}/{_VERSION}'
    finally:
        server.close()


def _filter_factory(nova_conf):
    """The factories that api-paste.ini names, in a Nova that has read that file.

    Nova itself is not installed here; of all its modules the filter imports nova.conf only.
    """
    nova = types.ModuleType('nova')
    nova.conf = types.ModuleType('nova.conf')
    nova.conf.CONF = cfg.ConfigOpts()
    nova.conf.CONF([], project='nova', default_config_files=[str(nova_conf)],
                   default_config_dirs=[])
    sys.modules.update({'nova': nova, 'nova.conf': nova.conf})
    return importlib.import_module('climate.nova.middleware').filter_factory


class _Identity:
    """Set the caller, as keystonecontext does. The token is ``user:project:role,role``."""

    def __init__(self, app):
        self._app = app

    @webob.dec.wsgify
    def __call__(self, request):
        user_id, _, rest = request.headers.get('X-Auth-Token', '').partition(':')
        project_id = rest.partition(':')[0]
        if not (user_id and project_id) or request.path_info_pop() != _VERSION:
            return webob.Response(status=401)
        request.environ.update({
            'HTTP_X_USER_ID': user_id, 'HTTP_X_PROJECT_ID': project_id,
            'openstack.request_id': f'req-{uuid.uuid4()}'})
        return request.get_response(self._app)


class _Servers:
    """POST and GET of /servers, GET of /servers/detail and /servers/{id}."""

    def __init__(self, cloud):
        self._cloud = cloud

    @webob.dec.wsgify
    def __call__(self, request):
        project_id = request.headers['X-Project-Id']
        steps = request.path_info.strip('/').split('/')
        try:
            if request.method == 'POST' and steps == ['servers']:
                return webob.Response(status=202, json_body={
                    'server': self._boot(project_id, request.json_body)})
            if request.method == 'GET' and steps[0] == 'servers':
                return webob.Response(json_body=self._found(
                    project_id, steps[1:], request.GET.get('name', '')))
        except errors.ClimateError as error:
            return webob.Response(status=error.status, json_body={
                'computeFault': {'code': error.status, 'message': error.message}})
        return webob.Response(status=404)

    def _boot(self, project_id, body):
        asked = body['server']
        hints = body.get('os:scheduler_hints') or body.get('OS-SCH-HNT:scheduler_hints')
        return _shown(self._cloud.boot(project_id, asked['name'], hints,
                                       flavor=asked['flavorRef'],
                                       metadata=asked.get('metadata')))

    def _found(self, project_id, steps, name):
        every = self._cloud.servers(project_id)
        if not steps or steps == ['detail']:
            return {'servers': [_shown(each) for each in every if re.search(name, each.name)]}
        for each in every:
            if [each.id] == steps:
                return {'server': _shown(each)}
        raise errors.TargetGone(kind='server', target_id=steps[0])


def _shown(server):
    return {'id': server.id, 'name': server.name, 'status': server.status,
            'OS-EXT-SRV-ATTR:host': server.host, 'metadata': server.metadata,
            'tenant_id': server.project_id}
