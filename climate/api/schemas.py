# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of the request bodies by REST version, also used for the OpenAPI document."""
from climate.domain import acquire
from climate.domain import lease_events
from climate.domain import maintenance_windows
from climate.domain.series import series_records

_TEXT = {'type': 'string', 'maxLength': 80}
_NAME = {'type': 'string', 'minLength': 1, 'maxLength': 80}
# The formats are not validated with the schema. The parser of each field checks its text.
_DATE_TIME = {'type': 'string', 'maxLength': 80, 'format': 'moment',
              'description': '"now", "+2h", "2030-05-01 08:00" or "2030-05-01T08:00:00Z".'}
_MINUTE = {'type': 'string', 'maxLength': 80, 'description': '"now" or "2030-05-01 08:00", UTC.'}
_DURATION = {'type': ['string', 'integer'], 'format': 'span',
             'description': 'Seconds, or text such as "90m", "1.5h", "1d12h" or "PT1H".'}
# A property of a resource. PostgreSQL refuses an index entry of more than 2700 bytes.
_VALUE = {'type': ['string', 'number', 'boolean', 'null'], 'maxLength': 512}
# The operator may set lower limits, which the manager checks.
_MANY = 10 ** 6
_ACQUIRE = {
    'type': 'object',
    'required': ['type'],
    'description': 'How the lease gets its resources. Default: immediate, or scheduled for a '
                   'later start.',
    'properties': {
        'type': {'enum': list(acquire.FIELDS)},
        'retries': {'type': 'integer', 'minimum': 1, 'maximum': _MANY},
        'retry_pause_seconds': {'type': 'integer', 'minimum': 1, 'maximum': _MANY},
        'timeout_seconds': {'type': 'integer', 'minimum': 1, 'maximum': 1000 * _MANY},
        'strategy': {'type': 'string', 'minLength': 1, 'maxLength': 64},
        'not_after': {**_DATE_TIME, 'type': ['string', 'null']},
        'priority': {'type': 'integer', 'minimum': -1000, 'maximum': 1000},
    },
    'additionalProperties': False,
}


# In Python "$" also matches before a line break at the end.
_LABEL = {'type': 'string', 'minLength': 1, 'maxLength': 64,
          'pattern': '^[A-Za-z0-9][A-Za-z0-9_.-]*$(?![\\n])'}
#: Fields of reservations of every type, from REST 1.1 on.
PLACE = {
    'label': {**_LABEL, 'type': ['string', 'null'],
              'description': 'A name within the lease: letters, digits, ".", "_", "-".'},
    'depends_on': {
        'type': 'array', 'maxItems': 100, 'uniqueItems': True, 'items': _LABEL,
        'description': 'Labels of reservations of the lease that start before and end after it.'},
}


def _events(required, properties, closed):
    return {'type': 'array', 'maxItems': lease_events.MOST_NOTICES, 'items': {
        'type': 'object', 'required': required, 'properties': properties,
        'additionalProperties': not closed}}


def _reservations(required, **others):
    return {'type': 'array', 'maxItems': 1000, 'items': {
        'type': 'object', 'required': required,
        'properties': {'resource_type': _TEXT, 'id': _TEXT, **others}}}


_CREATE_1_0 = {
    'type': 'object',
    'required': ['name', 'start_date', 'end_date'],
    'properties': {
        'name': _NAME, 'start_date': _MINUTE, 'end_date': _MINUTE,
        'before_end_date': {**_MINUTE, 'type': ['string', 'null']},
        'reservations': _reservations(['resource_type']),
        'events': _events([], {'event_type': _TEXT, 'type': _TEXT}, closed=False),
    },
}
_CREATE_1_1 = {
    'type': 'object',
    'required': ['name'],
    'properties': {
        'name': _NAME, 'start': _DATE_TIME, 'end': _DATE_TIME, 'duration': _DURATION,
        'before_end': {**_DATE_TIME, 'type': ['string', 'null']},
        'reservations': _reservations(['resource_type'], **PLACE),
        'events': _events(['type', 'time'], {'type': {'enum': ['notify']}, 'time': _DATE_TIME},
                          closed=True),
        'acquire': _ACQUIRE,
        'offer': {'type': 'string', 'minLength': 1, 'maxLength': 36,
                  'description': 'The id of a held offer, which sets the resources and the dates.'},
        'idle_exempt': {'type': 'boolean',
                        'description': 'Never treat the lease as idle (administrators only).'},
        'while_free': {**_DURATION, 'description': (
            'Extend the lease by steps of this duration while nobody else needs its resources: '
            f'{_DURATION["description"]} 0 or null ends the steps.'),
            'type': ['string', 'integer', 'null']},
    },
    'additionalProperties': False,
}
_UPDATE_1_0 = {
    'type': 'object',
    'properties': {**_CREATE_1_0['properties'], 'reservations': _reservations(['id'])},
}
_UPDATE_1_1 = {
    'type': 'object',
    'properties': {
        **{name: schema for name, schema in _CREATE_1_1['properties'].items()
           if name not in ('acquire', 'offer')},
        'reservations': _reservations(['id'], **PLACE)},
    'additionalProperties': False,
}
_HOST_CREATE = {
    'type': 'object',
    'required': ['name'],
    'properties': {'name': {'type': 'string', 'minLength': 1, 'maxLength': 255}},
    'additionalProperties': _VALUE,
}
# The schema requires neither the name nor the id in Nova, because REST 1.0 answers 403, not 400, if
# both are missing.
_HOST_CREATE_1_0 = {
    'type': 'object',
    'properties': {**_HOST_CREATE['properties'],
                   'id': {'type': ['string', 'integer'], 'minLength': 1, 'maxLength': 255,
                          'minimum': 0, 'maximum': 10 ** 18}},
    'additionalProperties': _VALUE,
}
_OUT_OF_ORDER = {
    'anyOf': [{'type': 'string', 'minLength': 1, 'maxLength': 1000}, {'type': 'null'},
              {'const': False}],
    'description': 'The reason why an operator takes it out of use; null or false: it is healthy '
                   'again.'}
_HOST_UPDATE = {
    'type': 'object',
    'minProperties': 1,
    'properties': {'reservable': {'type': 'boolean'}, 'out_of_order': _OUT_OF_ORDER},
    'additionalProperties': _VALUE,
}
# Existing clients send booleans as the text that they show.
_HOST_UPDATE_1_0 = {
    **_HOST_UPDATE,
    'properties': {'reservable': {'enum': [True, False, 'True', 'False', 'true', 'false']}},
}
_RESOURCE_UPDATE = {
    'type': 'object',
    'minProperties': 1,
    'properties': {
        'reservable': {'type': 'boolean', 'description': 'Whether new leases may use it.'},
        'out_of_order': _OUT_OF_ORDER,
        'properties': {'type': 'object', 'additionalProperties': _VALUE,
                       'description': 'Properties that are left out stay; null removes a '
                                      'property.'},
    },
    'additionalProperties': False,
}
_PROPERTY_1_0 = {
    'type': 'object',
    'required': ['private'],
    'properties': {'private': {'type': 'boolean'}},
}

_RESERVATION_BIND = {
    'type': 'object',
    'required': ['resource_id'],
    'properties': {'resource_id': {'type': 'string', 'minLength': 1, 'maxLength': 64,
                                   'description': 'The id of a server of the project.'}},
    'additionalProperties': False,
}

_RESOURCE = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_SWAP = {
    'type': 'object',
    'properties': {
        'host': {**_RESOURCE, 'description': 'The name or id of a host of the lease.'},
        'resource': {**_RESOURCE, 'description': 'The name or id of any resource of the lease.'},
        'reservation': {**_TEXT, 'description': 'The id of the reservation that has it, if several '
                                                'have it.'},
    },
    'minProperties': 1,
    'additionalProperties': False,
}

_RESOURCES = {'type': 'array', 'minItems': 1, 'maxItems': 10000, 'items': _RESOURCE}
_MAINTENANCE = {
    'type': 'object',
    'required': ['start', 'end', 'reason'],
    'properties': {
        'hosts': {**_RESOURCES, 'description': 'Names or ids of hosts.'},
        'resources': {**_RESOURCES, 'description': 'Names or ids of resources of "pool".'},
        'criteria': {
            'type': ['array', 'string'], 'minItems': 1, 'minLength': 1, 'maxLength': 65536,
            'description': 'Criteria as in a lease. They select the resources that meet them now.'},
        'pool': {'type': 'string', 'minLength': 1, 'maxLength': 32, 'default': 'host'},
        'start': _DATE_TIME, 'end': _DATE_TIME,
        'reason': {'type': 'string', 'minLength': 1, 'maxLength': 1000,
                   'description': 'The reason, which the owners of affected leases can read.'},
        'running': {'enum': list(maintenance_windows.MODES), 'default': maintenance_windows.LEFT,
                    'description': 'What happens to leases that run at the start of the '
                                   'maintenance.'},
        'notice': {**_DURATION,
                   'description': 'Time between the notification of an owner and the early end.'},
        'rrule': {'type': 'string', 'minLength': 1, 'maxLength': 500,
                  'description': 'The recurrence, as an RRULE of RFC 5545: '
                                 '"FREQ=WEEKLY;BYDAY=SU".'},
    },
    'additionalProperties': False,
}

#: The largest number that an occurrence of a series can have.
MOST_OCCURRENCES = 1000
_SERIES_FIELDS = {
    'name': _NAME, 'duration': _DURATION,
    'reservations': {**_reservations(['resource_type'], **PLACE), 'minItems': 1},
}
_SERIES_CREATE = {
    'type': 'object',
    'required': ['name', 'start', 'duration', 'repeat', 'reservations'],
    'properties': {
        **_SERIES_FIELDS,
        'start': {'type': 'string', 'maxLength': 80, 'description': (
            'The local time in "time_zone" from which the rule counts: "2030-05-01 08:00".')},
        'repeat': {'type': 'string', 'minLength': 1, 'maxLength': 500, 'description': (
            'The rule: "every monday until 2030-07-31", or an RRULE of RFC 5545: '
            '"FREQ=WEEKLY;BYDAY=MO;UNTIL=20300731".')},
        'time_zone': {'type': 'string', 'minLength': 1, 'maxLength': 64, 'default': 'UTC',
                      'description': 'A time zone of the database of IANA: "Europe/Berlin".'},
        'mode': {'enum': list(series_records.MODES), 'default': series_records.WHAT_FITS,
                 'description': 'Whether all occurrences within the horizon are booked or none, or '
                                'those for which resources are free.'},
        'same_resources': {'type': 'boolean', 'default': False, 'description': (
            'Whether each lease gets the resources of the first one.')},
    },
    'additionalProperties': False,
}
_SERIES_UPDATE = {
    'type': 'object',
    'minProperties': 1,
    'properties': {
        **_SERIES_FIELDS,
        'time': {'type': 'string', 'maxLength': 8,
                 'description': 'The local time of day of the starts: "09:00".'},
    },
    'additionalProperties': False,
}

_AVAILABILITY = {
    'type': 'object',
    'required': ['reservations', 'duration'],
    'properties': {
        'reservations': {**_reservations(['resource_type'], **PLACE), 'minItems': 1},
        'duration': _DURATION,
        'earliest': {**_DATE_TIME, 'description': 'The earliest start. Default: "now".'},
        'latest': {**_DATE_TIME, 'description': 'The latest end.'},
        'limit': {'type': 'integer', 'minimum': 1, 'maximum': 20, 'default': 5,
                  'description': 'The maximum number of offers.'},
    },
    'additionalProperties': False,
}

_HOLD = {
    **_AVAILABILITY,
    'properties': {
        **_AVAILABILITY['properties'],
        'hold': {'type': 'integer', 'minimum': 1, 'maximum': 5, 'default': 1,
                 'description': 'The number of offers to hold.'},
    },
}

_RESOURCE = {'type': 'string', 'minLength': 1, 'maxLength': 255,
             'description': 'The id or the name of a resource of the pool.'}
_WHAT_IF = {
    'type': 'object',
    'properties': {
        'pool': {'type': 'string', 'minLength': 1, 'maxLength': 32, 'default': 'host'},
        'start': {**_DATE_TIME, 'description': 'The start. Default: "now".'},
        'end': {**_DATE_TIME, 'description': 'The end. Default: 30 days later.'},
        'add': {'type': 'array', 'maxItems': 100, 'items': {
            'type': 'object', 'required': ['count', 'like'],
            'properties': {'count': {'type': 'integer', 'minimum': 1, 'maximum': 10_000},
                           'like': _RESOURCE},
            'additionalProperties': False}},
        'remove': {'type': 'array', 'maxItems': 10_000, 'uniqueItems': True, 'items': _RESOURCE},
        'out': {'type': 'array', 'maxItems': 1000, 'items': {
            'type': 'object', 'required': ['resources', 'start', 'end'],
            'properties': {
                'resources': {'type': 'array', 'minItems': 1, 'maxItems': 10_000,
                              'items': _RESOURCE},
                'start': _DATE_TIME, 'end': _DATE_TIME},
            'additionalProperties': False}},
        'demand_factor': {'type': 'number', 'minimum': 0.1, 'maximum': 10, 'default': 1,
                          'description': 'A factor for the demand. 1.5 means 50 % more leases.'},
        'limit': {'type': 'integer', 'minimum': 1, 'maximum': 10_000, 'default': 1000,
                  'description': 'The maximum number of leases that are listed.'},
    },
    'additionalProperties': False,
}

#: Schema of the query.
FORECAST = {
    'type': 'object',
    'properties': {
        'pool': _WHAT_IF['properties']['pool'],
        'end': {**_DATE_TIME, 'description': 'The end, at most 28 days ahead. Default: "+7d".'},
        'criteria': {'type': 'string', 'maxLength': 4000, 'description': (
            'JSON text of criteria as in a lease, such as ["==", "$gpu", "A100"].')},
    },
    'additionalProperties': False,
}
#: Schema of the query.
TIMELINE = {
    'type': 'object',
    'properties': {
        'pool': _WHAT_IF['properties']['pool'],
        'start': {**_DATE_TIME, 'description': 'The start. Default: now.'},
        'end': {**_DATE_TIME, 'description': 'The end, at most 1100 days later. Default: "+7d".'},
        'criteria': FORECAST['properties']['criteria'],
        'resolution': {'type': 'string', 'maxLength': 8, 'description': (
            'Resolution in seconds. Bars of one resource that together are shorter may be shown as '
            'one bar.')},
    },
    'additionalProperties': False,
}
#: Schema of the reservation in the query for facets.
FACET_RESERVATION = _AVAILABILITY['properties']['reservations']['items']
#: Schema of the query.
FACETS = {
    'type': 'object',
    'properties': {
        'start': {**_DATE_TIME, 'description': 'The start. Default: now.'},
        'end': {**_DATE_TIME, 'description': 'The end. Default: an hour after the start.'},
        'duration': {'type': 'string', 'maxLength': 80, 'description': (
            'The duration, such as "2h", in place of the end.')},
        'criteria': FORECAST['properties']['criteria'],
        'reservation': {'type': 'string', 'maxLength': 8000, 'description': (
            'JSON text of a reservation as in a lease. Resources on which one copy of it fits '
            'count as free, and its criteria count, too. Default: resources that are entirely '
            'free count as free.')},
    },
    'additionalProperties': False,
}
#: Schema of the query. The body may also have "hold".
AVAILABILITY = _AVAILABILITY
AVAILABILITY_HOLD = (_HOLD, _HOLD)
WHAT_IF = (_WHAT_IF, _WHAT_IF)
LEASE_CREATE = (_CREATE_1_0, _CREATE_1_1)
MAINTENANCE_CREATE = (_MAINTENANCE, _MAINTENANCE)
SERIES_CREATE = (_SERIES_CREATE, _SERIES_CREATE)
SERIES_UPDATE = (_SERIES_UPDATE, _SERIES_UPDATE)
LEASE_SWAP = (_SWAP, _SWAP)
LEASE_UPDATE = (_UPDATE_1_0, _UPDATE_1_1)
HOST_CREATE = (_HOST_CREATE_1_0, _HOST_CREATE)
HOST_UPDATE = (_HOST_UPDATE_1_0, _HOST_UPDATE)
#: Schema of the value of one property.
PROPERTY_VALUE = _VALUE
#: Schema of the properties in the body that enrols a resource; the pool has the other fields.
RESOURCE_PROPERTIES = {'type': 'object', 'additionalProperties': _VALUE,
                       'description': 'Properties for criteria, such as {"rack": "r7"}.'}
RESOURCE_UPDATE = (_RESOURCE_UPDATE, _RESOURCE_UPDATE)
RESERVATION_BIND = (_RESERVATION_BIND, _RESERVATION_BIND)
_POWER = {
    'type': 'object', 'required': ['state'], 'additionalProperties': False,
    'properties': {'state': {'type': 'string', 'enum': ['awake', 'asleep']}},
}
POWER = (_POWER, _POWER)
PROPERTY_UPDATE = (
    # Clients of Chameleon send is_unique. Climate has no property whose values must differ.
    {**_PROPERTY_1_0, 'properties': {**_PROPERTY_1_0['properties'], 'is_unique': {'const': False}}},
    {**_PROPERTY_1_0, 'additionalProperties': False})
