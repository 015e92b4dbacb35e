# SPDX-License-Identifier: Apache-2.0
"""The templates of the simulated Heat: their parameters, resolved, and their resources."""
import re

from climate import errors
from climate import yaml_text
from climate.cloud import models

SERVER = 'OS::Nova::Server'
_GROUP = 'OS::Heat::ResourceGroup'
_KIND = re.compile(r'OS::\w+::\w+')
_VERSION = 'heat_template_version'
_MOST_RESOURCES = 1000


def preview(spec):
    """Return the StackPreview of a new stack.

    :raises BadRequest: the template, or a value for it, is wrong.
    """
    template = _parsed(spec['template'])
    values = _values(template.get('parameters') or {}, spec.get('parameters') or {})
    parts = tuple(_parts(template.get('resources') or {}, values))
    if len(parts) > _MOST_RESOURCES:
        raise errors.BadRequest(reason='Maximum resources per stack exceeded.')
    return models.StackPreview(parameters=values, parts=parts)


def _parsed(template):
    if isinstance(template, str):
        try:
            template = yaml_text.read(template)
        except ValueError as error:
            raise errors.BadRequest(reason=f'Error parsing template: {error}') from error
    if not isinstance(template, dict) or _VERSION not in template:
        raise errors.BadRequest(reason=f'Template format version not found: {_VERSION}.')
    return template


def _values(declared, given):
    unknown = sorted(set(given) - set(declared))
    if unknown:
        raise errors.BadRequest(reason=(
            f'The Parameter ({unknown[0]}) was not defined in template.'))
    values = {}
    for name, rule in declared.items():
        if name not in given and 'default' not in rule:
            raise errors.BadRequest(reason=f'The Parameter ({name}) was not provided.')
        values[name] = given.get(name, rule.get('default'))
    return values


def _parts(resources, values):
    for name, resource in resources.items():
        kind = resource.get('type', '')
        if not _KIND.fullmatch(kind):
            raise errors.BadRequest(reason=f'The Resource Type ({kind}) could not be found.')
        properties = _resolved(resource.get('properties') or {}, values)
        if kind == _GROUP:
            definition = properties['resource_def']
            for index in range(int(properties.get('count', 1))):
                yield from _parts({f'{name}.{index}': definition}, values)
        else:
            yield models.StackPart(name=name, kind=kind, properties=properties)


def _resolved(value, values):
    if isinstance(value, dict):
        if set(value) == {'get_param'}:
            if value['get_param'] not in values:
                raise errors.BadRequest(reason=(
                    f'The Parameter ({value["get_param"]}) was not defined in template.'))
            return values[value['get_param']]
        return {key: _resolved(item, values) for key, item in value.items()}
    return [_resolved(item, values) for item in value] if isinstance(value, list) else value
