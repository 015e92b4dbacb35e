# SPDX-License-Identifier: Apache-2.0
"""Large parts of requests stay in the database: no list, answer, notification or audit has them."""
import json

import sqlalchemy as sa
from support import builders
from support import recorded_wire

from climate.db import leases
from climate.db import reservations
from climate.db import tables
from climate.rpc import client

_SECRET = 'f1nd-me'
_BODY = {'name': 'large', 'start': '+1h', 'duration': '1h', 'reservations': [{
    'resource_type': 'virtual:stack', 'parameters': {}, 'files': {'a.sh': _SECRET * 10_000},
    'environment': f'# {_SECRET}', 'template': {
        'heat_template_version': '2021-04-16', 'description': _SECRET * 10_000,
        'resources': {'word': {'type': 'OS::Heat::RandomString'}}}}]}


def test_large_parts_of_requests_leave_the_database_for_the_start_only(conf, manager):
    bus = recorded_wire.RecordedWire(manager)
    api = builders.Api(conf, manager, client=client.ManagerClient(bus))
    for version in ('1.1', '1.0'):
        lease = api.post('/v1/leases', _BODY, version='1.1').json['lease']
        place = f'/v1/leases/{lease["id"]}'
        assert api.get(place, version=version).status_int == 200
        assert api.put(place, {'name': 'x'}, version=version).status_int == 200
        assert len(api.get('/v1/leases', version=version).json['leases']) >= 1
    assert len(bus.answers) >= 8
    with manager.database.reader() as connection:
        told = [json.dumps(row) for row in connection.execute(
            sa.select(tables.OUTBOX.c.payload)).scalars()]
        audited = leases.open_ones(connection)
        secrets = reservations.secrets_of(connection, [lease['reservations'][0]['id']])
    assert told
    for text in (*bus.answers, *told, str(audited)):
        assert _SECRET not in text and len(text) < 20_000
    assert [each.reservations[0].request['on_end'] for each in audited] == ['delete'] * 2
    assert [each['files'] for each in secrets.values()] == [_BODY['reservations'][0]['files']]
    manager.clock.advance(builders.hours(1))
    manager.run()
    assert api.get(place, version='1.1').json['lease']['status'] == 'active'
