# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of a price book."""
from climate.domain import peak_hours

# Numbers may be text, which is never rounded. Their parser checks the text, and names the field.
_NUMBER = {'type': ['string', 'number'], 'maxLength': 32, 'format': 'decimal',
           'description': 'Not negative; text such as "12.50" is kept exactly.'}
_TEXT = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_TIME = {'type': 'string', 'maxLength': 5, 'format': 'time of day',
         'description': '"08:00"; the end of a day is "24:00".'}


def _closed(required, **properties):
    return {'type': 'object', 'required': required, 'properties': properties,
            'additionalProperties': False}


_SURCHARGE = _closed(['percent'], percent=_NUMBER)
_BOOK = _closed(
    ['currency'],
    currency={'type': 'string', 'minLength': 3, 'maxLength': 3, 'format': 'currency',
              'description': 'A code of ISO 4217, such as "EUR".'},
    valid_from={'type': 'string', 'maxLength': 80, 'format': 'moment',
                'description': 'Default: now. It must not be in the past.'},
    description={'type': 'string', 'maxLength': 255},
    lease_fee=_NUMBER,
    rates={'type': 'array', 'maxItems': 500, 'items': _closed(
        ['rate'], rate=_NUMBER, resource_type=_TEXT, pool=_TEXT,
        properties={'type': 'object', 'minProperties': 1, 'maxProperties': 8,
                    'additionalProperties': {'type': 'string', 'maxLength': 512}})},
    short_notice=_closed(['hours', 'percent'], hours=_NUMBER, percent=_NUMBER),
    peak_hours=_closed(
        ['timezone', 'windows'], timezone={**_TEXT, 'format': 'time zone'},
        windows={'type': 'array', 'minItems': 1, 'maxItems': 50, 'items': {
            **_closed(['days', 'from', 'to', 'percent'], days={
                'type': 'array', 'minItems': 1, 'maxItems': 7, 'uniqueItems': True,
                'items': {'enum': list(peak_hours.DAYS)}}, to=_TIME, percent=_NUMBER,
                **{'from': _TIME})}}),
    priority=_SURCHARGE, best_effort=_SURCHARGE, idle=_SURCHARGE,
    early_end=_closed(['credit_percent'], credit_percent=_NUMBER))

PRICE_BOOK = (_BOOK, _BOOK)
