# SPDX-License-Identifier: Apache-2.0
"""Heat: the stacks of projects.

An administrator, such as Climate's own login, reads, suspends, resumes and deletes the stacks of
all projects, whatever project the path of a call names. So `find` looks at the project of a stack.
"""
import re

from keystoneauth1 import exceptions as keystone_errors

from climate import errors
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models

# What an endpoint of Heat looks like; its last part is the project of the token.
_ENDPOINT = re.compile(r'(?P<root>.*/v1)/[^/]+/?')
_ID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# Parameters that each template has without declaring them.
_PSEUDO = 'OS::'
_NESTED_DEPTH = 5
_DELETED = ('DELETE', 'COMPLETE')
# log=False below: keystoneauth would log the body, which may have passwords.


class Stacks(base.Stacks):
    """Heat under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._adapter = link.rest()

    def preview(self, spec, context=None):
        more = {}
        if context is not None:
            if not context.auth_token:
                raise errors.NotAuthenticated()
            # The caller's token makes the preview, so that it tells nothing but what is theirs.
            more = {**self._in(context.project_id), 'authenticated': False,
                    'headers': {'X-Auth-Token': context.auth_token}}
        try:
            answer = self._adapter.post('/stacks/preview', json=_body(spec), log=False, **more)
        except keystone_errors.Unauthorized as error:
            if context is None:
                raise
            raise errors.NotAuthenticated() from error
        except (keystone_errors.BadRequest, keystone_errors.Forbidden,
                keystone_errors.NotFound) as error:
            if faults.is_login(error):
                raise
            raise errors.BadRequest(reason=_words(error)) from error
        found = answer.json()['stack']
        return models.StackPreview(
            parameters={name: value for name, value in (found.get('parameters') or {}).items()
                        if not name.startswith(_PSEUDO)},
            parts=tuple(_flat(found['resources'])))

    def create(self, spec):
        try:
            answer = self._adapter.post('/stacks', json=_body(spec), log=False)
        except keystone_errors.Conflict as error:
            raise errors.Conflict(reason=_words(error)) from error
        except (keystone_errors.BadRequest, keystone_errors.Forbidden) as error:
            if faults.is_login(error):
                raise
            raise errors.CloudError.plain(self.service, _words(error)) from error
        return answer.json()['stack']['id']

    def find(self, project_id, name_or_id):
        if not _ID.fullmatch(name_or_id):
            # Heat looks a name in a path up in the project of the token, not in that of the path.
            answer = self._adapter.get('/stacks', params={'name': name_or_id},
                                       **self._in(project_id))
            return next((_stack(each) for each in answer.json()['stacks']
                         if each['stack_name'] == name_or_id and _is_of(project_id, each)), None)
        with faults.ignored_if_absent():
            # Heat redirects to the address with both the name and the id.
            answer = self._adapter.get(f'/stacks/{name_or_id}', **self._in(project_id))
            found = answer.json()['stack']
            return _stack(found) if _is_of(project_id, found) else None
        return None

    def suspend(self, project_id, stack):
        self._act(project_id, stack, 'suspend')

    def resume(self, project_id, stack):
        self._act(project_id, stack, 'resume')

    def delete(self, project_id, stack):
        with faults.ignored_if_absent():
            self._adapter.delete(_path(stack), **self._in(project_id))

    def parts(self, project_id, stack):
        with faults.ignored_if_absent():
            answer = self._adapter.get(f'{_path(stack)}/resources', **self._in(project_id),
                                       params={'nested_depth': _NESTED_DEPTH})
            return [models.StackPart(
                name=each['resource_name'], kind=each['resource_type'],
                status=each['resource_status'], reason=each['resource_status_reason'] or '')
                for each in answer.json()['resources']]
        return []

    def _act(self, project_id, stack, action):
        self._adapter.post(f'{_path(stack)}/actions', json={action: None},
                           **self._in(project_id))

    def _in(self, project_id):
        """Return the argument that lets a call go to the path of a project."""
        if project_id is None:
            return {}
        endpoint = self._adapter.get_endpoint()
        found = _ENDPOINT.fullmatch(endpoint or '')
        if found is None:
            raise errors.CloudError(service=self.service, reason=(
                f'its endpoint {endpoint} does not end with /v1/ and a project id.'))
        return {'endpoint_override': f'{found["root"]}/{project_id}'}


def _body(spec):
    body = {'stack_name': spec['name'], 'template': spec['template'],
            'parameters': spec.get('parameters') or {},
            'environment': spec.get('environment') or {}, 'files': spec.get('files') or {},
            'disable_rollback': True}
    if spec.get('tags'):
        body['tags'] = ','.join(spec['tags'])
    if spec.get('timeout_minutes'):
        body['timeout_mins'] = spec['timeout_minutes']
    return body


def _is_of(project_id, found):
    """Return whether a stack of an answer is of a project, which only its address tells.

    :param project_id: None: any project.
    """
    place = found['links'][0]['href'].rpartition('/stacks/')[0]
    return project_id in (None, place.rpartition('/')[2])


def _stack(found):
    """Return a stack of an answer, or None if it is deleted: by its id Heat shows it on."""
    action, _, progress = found['stack_status'].partition('_')
    if (action, progress) == _DELETED:
        return None
    return models.Stack(id=found['id'], name=found['stack_name'], action=action,
                        progress=progress, reason=found['stack_status_reason'] or '')


def _path(stack):
    return f'/stacks/{stack.name}/{stack.id}'


def _flat(resources):
    """Yield the StackParts of a preview, in which a nested stack is a list."""
    for each in resources:
        if isinstance(each, list):
            yield from _flat(each)
        else:
            yield models.StackPart(name=each['resource_name'], kind=each['resource_type'],
                                   properties=each.get('properties') or {})


def _words(error):
    """Return what Heat says to its caller, who may read it."""
    return ' '.join(str(error.message or error).split())
