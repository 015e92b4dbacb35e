# SPDX-License-Identifier: Apache-2.0
"""The forms of reservations in the OpenAPI document, one a resource type."""

_PREFIX = '#/components/schemas/'
# What must be said of the span of time of a new lease.
_SPANS = [{'required': ['end']}, {'required': ['duration']}, {'required': ['offer']}]


def new(resource_type):
    """The name, in the document, of the form of a reservation to be made."""
    # OpenAPI allows no colon in such a name.
    return resource_type.replace(':', '.')


def changed(resource_type):
    """The name, in the document, of the form of a reservation to be changed."""
    return new(resource_type) + '.changes'


def components(plugins):
    """{name: JSON schema} of both forms of each type.

    :param plugins: {resource type: plugin class}.
    """
    found = {}
    for resource_type, plugin in plugins.items():
        found[new(resource_type)] = _new(resource_type, plugin)
        found[changed(resource_type)] = _changed(resource_type, plugin)
    return found


def with_reservations(schema, plugins, name):
    """The schema of a lease in which the reservations are said in full.

    :param name: `new` or `changed`.
    """
    # Changes need not name their type, so that several forms may fit them.
    word = 'oneOf' if name is new else 'anyOf'
    items = {word: [{'$ref': _PREFIX + name(resource_type)} for resource_type in plugins]}
    if name is new:
        items['discriminator'] = {'propertyName': 'resource_type', 'mapping': {
            resource_type: _PREFIX + name(resource_type) for resource_type in plugins}}
    properties = schema['properties']
    found = {**schema, 'properties': {
        **properties, 'reservations': {**properties['reservations'], 'items': items}}}
    # In an answer of the service it is said in words.
    return {**found, 'anyOf': _SPANS} if name is new else found


def _new(resource_type, plugin):
    schema = plugin.schema
    return {**schema, 'properties': {'resource_type': {'const': resource_type},
                                     **schema['properties']},
            'required': ['resource_type', *schema.get('required', ())],
            'examples': [{'resource_type': resource_type, **plugin.example}]}


def _changed(resource_type, plugin):
    return {'type': 'object', 'description': 'What is not named stays as it is.',
            'properties': {'id': {'type': 'string', 'minLength': 1, 'maxLength': 36},
                           'resource_type': {'const': resource_type},
                           **plugin.schema['properties']},
            'required': ['id'], 'additionalProperties': False}
