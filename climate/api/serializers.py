# SPDX-License-Identifier: Apache-2.0
"""Serialization of the resources of a pool, from REST 1.1 on."""
import functools

from climate import errors
from climate import moments
from climate.api import schemas
from climate.api import times
from climate.api import views
from climate.domain import health
from climate.domain import lease_1_0
from climate.policies import resources as rules


class ResourceSerializer:
    """Parses the request bodies and renders the responses of one pool.

    :param pool: the Pool class; only its class attributes and class methods are used.
    """

    #: The keys of one resource and of a list of resources in responses.
    one, many = 'resource', 'resources'
    #: False if REST 1.0 serves these paths, too.
    since_1_1 = True

    def __init__(self, pool):
        self._pool = pool
        self.pool = pool.name
        self.rules = rules.of_pool(pool.name)

    @functools.cached_property
    def create_schemas(self):
        """The schemas of the body that enrols a resource, for REST 1.0 and from 1.1 on."""
        own = self._pool.enrol_schema
        schema = {**own, 'properties': {**own['properties'],
                                        'properties': schemas.RESOURCE_PROPERTIES}}
        return schema, schema

    @property
    def update_schemas(self):
        """The schemas of the body that changes a resource, for REST 1.0 and from 1.1 on."""
        return schemas.RESOURCE_UPDATE

    def enrolment(self, data):
        """Split a body into (name or '', {property: text or None}, {other field: value})."""
        fields = {key: value for key, value in data.items() if key not in ('name', 'properties')}
        return data.get('name', ''), as_text(data.get('properties', {})), fields

    def number(self, text):
        """Return the text of the number in the id of a resource, as a client wrote the id."""
        return text

    def shown_id(self, number):
        """Return the id of a resource as clients read it."""
        return str(number)

    def renamed(self, error):
        """Return a BadField with the field's name in the body of an enrolment."""
        return error

    def is_range(self, name, fields):
        """Return whether the name and the fields of an enrolment stand for several resources."""
        return self._pool.is_range(name, fields)

    def changes(self, data):
        """Split a body into ({property: text or None}, reservable or None)."""
        return as_text(data.get('properties', {})), data.get('reservable')

    def out_of_order(self, data):
        """Return why a body takes a resource out of service, from REST 1.1 on.

        '' means that the resource is healthy again. None means that the body does not say.
        """
        return (data['out_of_order'] or '') if 'out_of_order' in data else None

    def resource(self, resource, lenient):
        """Render a Resource."""
        return {**self._pool.shown(resource), 'id': str(resource.id), 'name': resource.name,
                'reservable': resource.reservable, 'properties': dict(resource.properties),
                **health_of(resource), **power(resource),
                **views.stamps_1_1(resource)}

    def property(self, prop, lenient):
        """Render a Property after a change."""
        return {'property': prop.name, 'private': prop.private, **views.stamps_1_1(prop)}


class FlatSerializer(ResourceSerializer):
    """Has properties among the fields of a resource, in request bodies and in responses.

    REST 1.0 serves its paths, too.
    """

    since_1_1 = False
    update_schemas = schemas.HOST_UPDATE
    #: The type of the resources in requests.
    resource_type = ''

    def changes(self, data):
        properties = {name: value for name, value in data.items() if name != 'out_of_order'}
        reservable = properties.pop('reservable', None)
        return (as_text(properties),
                None if reservable is None else str(reservable).lower() == 'true')

    def property(self, prop, lenient):
        # REST 1.0 shows these times in the form that leases have.
        show = moments.exactly if lenient else times.shown
        return {'id': str(prop.id), 'resource_type': self.resource_type,
                'property_name': prop.name, 'private': prop.private,
                'created_at': show(prop.created_at), 'updated_at': show(prop.updated_at)}

    @staticmethod
    def _state(resource, lenient):
        """Return the health, the power and the times of a Resource in the form of a version."""
        if lenient:
            return lease_1_0.stamps(resource)
        return {**health_of(resource), **power(resource), **views.stamps_1_1(resource)}


class ViewSerializer(ResourceSerializer):
    """Parses and renders the resources of a pool for its own path, its ``View``."""

    since_1_1 = False

    def __init__(self, pool):
        super().__init__(pool)
        self._view = pool.view
        self.one, self.many = pool.view.one, pool.view.path
        self.rules = rules.of_view(pool.view.path)

    @functools.cached_property
    def create_schemas(self):
        schema = self._view.enrol_schema
        # Clients of REST 1.0 send unknown fields.
        return {**schema, 'additionalProperties': True}, schema

    def enrolment(self, data):
        fields = {own: data[name] for name, own in self._view.enrols.items() if name in data}
        return fields.pop('name', ''), {}, fields

    def renamed(self, error):
        names = {own: name for name, own in self._view.enrols.items()}
        field = error.kwargs.get('field')
        if field not in names:
            return error
        return errors.BadField(**{**error.kwargs, 'field': names[field]})

    def is_range(self, name, fields):
        return False

    def resource(self, resource, lenient):
        stamps = lease_1_0.stamps if lenient else views.stamps_1_1
        return {'id': str(resource.id), **{name: resource.facts.get(fact)
                                           for name, fact in self._view.fields.items()},
                'reservable': resource.reservable,
                **({} if lenient else health_of(resource)), **stamps(resource)}


def power(resource):
    """Render the power state of a Resource; {} if the resource never sleeps."""
    if resource.power_state is None:
        return {}
    since = resource.power_since or resource.created_at
    return {'power_state': resource.power_state, 'power_since': times.shown(since)}


def as_text(properties):
    """Convert the values of properties to text, such as True to "True"; None stays None."""
    return {name: None if value is None else str(value) for name, value in properties.items()}


def health_of(resource):
    """Render the health of a Resource, and the windows of its maintenance."""
    verdict = resource.verdict or health.HealthVerdict()
    return {'health': {'state': verdict.state, 'since': times.shown(verdict.since),
                       'reason': verdict.reason, 'source': verdict.source,
                       'until': times.shown(verdict.until)},
            'maintenances': [_window(window) for window in resource.maintenances]}


def _window(window):
    """Render a window of maintenance with its reason."""
    return {'id': window.maintenance_id, 'start': times.shown(window.start),
            'end': times.shown(window.end), 'state': window.state, 'reason': window.reason}
