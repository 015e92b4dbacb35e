# SPDX-License-Identifier: Apache-2.0
"""Schemas of reservations in the OpenAPI document, two for each resource type."""

from climate.api import schemas

_PREFIX = '#/components/schemas/'
# A new lease needs one of these fields, which define its end.
_SPANS = [{'required': ['end']}, {'required': ['duration']}, {'required': ['offer']}]


def new(resource_type):
    """Name the schema of a new reservation of a type."""
    # OpenAPI allows no colon in the name of a schema.
    return resource_type.replace(':', '.')


def changed(resource_type):
    """Name the schema of a change of a reservation of a type."""
    return new(resource_type) + '.changes'


def components(plugins):
    """Make both schemas of each type.

    :param plugins: {resource type: plugin class}.
    :returns: {name: JSON schema}.
    """
    names = {}
    for resource_type, plugin in plugins.items():
        names[new(resource_type)] = _new(resource_type, plugin)
        names[changed(resource_type)] = _changed(resource_type, plugin)
    return names


def with_reservations(schema, plugins, name):
    """Add the schemas of the reservations to the schema of a lease.

    :param name: `new` or `changed`.
    :returns: a new schema.
    """
    # A change may omit its type. Then several schemas may match.
    items = _items(plugins) if name is new else {
        'anyOf': [{'$ref': _PREFIX + name(resource_type)} for resource_type in plugins]}
    extended = _with_items(schema, items)
    # Bodies are not validated with _SPANS, because the parser of the body has a clearer message.
    return {**extended, 'anyOf': _SPANS} if name is new else extended


def repeated(schema, plugins):
    """Add the schemas of new reservations to the schema of a series; return a new schema."""
    return _with_items(schema, _items(plugins))


def _items(plugins):
    """Return the schema of a new reservation of any type."""
    return {
        'oneOf': [{'$ref': _PREFIX + new(resource_type)} for resource_type in plugins],
        'discriminator': {'propertyName': 'resource_type', 'mapping': {
            resource_type: _PREFIX + new(resource_type) for resource_type in plugins}}}


def _with_items(schema, items):
    properties = schema['properties']
    return {**schema, 'properties': {
        **properties, 'reservations': {**properties['reservations'], 'items': items}}}


def _new(resource_type, plugin):
    schema = plugin.schema
    return {**schema, 'properties': {'resource_type': {'const': resource_type},
                                     **schema['properties'], **schemas.PLACE},
            'required': ['resource_type', *schema.get('required', ())],
            # For forms: the pools that the type draws from, and the word for a name in criteria.
            'x-climate-pools': [{'name': pool.name, 'name_fact': pool.name_fact}
                                for pool in plugin.pools],
            'examples': [{'resource_type': resource_type, **plugin.example}]}


def _changed(resource_type, plugin):
    return {'type': 'object', 'description': 'Fields that are left out stay as they are.',
            'properties': {'id': {'type': 'string', 'minLength': 1, 'maxLength': 36},
                           'resource_type': {'const': resource_type},
                           **plugin.schema['properties'], **schemas.PLACE},
            'required': ['id'], 'additionalProperties': False}
