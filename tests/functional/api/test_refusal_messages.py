# SPDX-License-Identifier: Apache-2.0
"""A refusal for a member names the field and the remedy, without internal names."""
import re

import pytest
from support import builders

_HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
_SIZED = {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1,
          'amount': 1}
_FLAVOR = {'resource_type': 'flavor:instance', 'flavor_id': 'odd', 'amount': 1}
# Facts of the pool, classes of Placement, and words of the code.
_INTERNAL = re.compile(r'max_unit|CUSTOM_|\bslots?\b|\bplaces?\b|wishe?s?\b|\[[0-9, ]+\]')


@pytest.fixture
def create(api, manager):
    """Asks for a lease at REST 1.1; returns the answer."""
    manager.cloud.add_flavor('odd', 'odd', extra_specs={'resources:CUSTOM_FPGA': 'two'})
    manager.cloud.add_flavor('nothing', 'nothing', vcpus=0, ram=0, disk=0)
    for number in (1, 2):
        manager.client.create_resource(builders.an_admin(), 'host', f'compute-{number}', {})

    def post(*reservations, **more):
        return api.post('/v1/leases', {'name': 'x', 'duration': '2h', 'start': 'now',
                                       'reservations': list(reservations), **more},
                        version='1.1')
    return post


@pytest.mark.parametrize(('reservations', 'more', 'field', 'way_out'), [
    ([{**_HOST, 'min': 9, 'max': 9}], {}, 'hosts', 'Fewer, or other criteria, would fit'),
    ([{**_SIZED, 'amount': 900}], {}, 'servers', 'or fewer, or other criteria, would fit'),
    ([{**_SIZED, 'amount': 1001}], {}, 'amount', 'ask for less'),
    ([{**_SIZED, 'amount': 9, 'affinity': True, 'vcpus': 60}], {}, 'on one host',
     'Other criteria might fit'),
    ([_FLAVOR], {}, 'flavor_id', 'choose another flavor'),
    ([{**_FLAVOR, 'flavor_id': 'nothing'}], {}, 'flavor_id', 'choose another flavor'),
    ([_HOST] * 101, {}, 'reservations', 'make several leases'),
    ([_HOST], {'acquire': {'type': 'retries', 'retries': -1}}, 'acquire.retries', 'minimum of 1'),
    ([{**_HOST, 'max': 0}], {}, 'max', ''),
    ([_HOST], {'name': 'x' * 400}, 'name', '400 characters; give at most 80'),
    ([_HOST], {'name': ''}, 'name', 'at least 1'),
    ([_HOST], {'start': '2020-01-01 08:00'}, 'start', 'it is 2030')])
def test_a_refusal_names_the_field_and_the_way_out(create, reservations, more, field, way_out):
    answer = create(*reservations, **more)
    assert answer.status_int in (400, 409), answer.body
    message = answer.json['error_message']
    assert field in message and way_out in message, message
    assert not _INTERNAL.search(message.replace('CUSTOM_FPGA', '')), message


def test_a_prolongation_that_does_not_fit_says_to_ask_for_less(create, api, manager):
    lease = create({**_HOST, 'min': 2, 'max': 2}).json['lease']
    manager.run()
    create(_HOST, start='2030-05-01T14:00:00Z')
    answer = api.put(f'/v1/leases/{lease["id"]}', {'end': '2030-05-01T15:00:00Z'}, version='1.1')
    assert answer.status_int == 409
    assert answer.json['error_message'] == (
        'Only 1 of 2 hosts are free for all of the time asked for: 2 are enrolled. The lease '
        'runs, so it keeps the hosts that it has; other leases have 1 of them for a part of the '
        'time. Ask for an earlier end, or for less.')
