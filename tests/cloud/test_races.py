# SPDX-License-Identifier: Apache-2.0
"""Many requests at the same moment, through the real REST service, bus and database."""
import collections
import json

import pytest
import requests
from support import simultaneous

from tools.cloud import settings

AT_ONCE = 16


@pytest.mark.parametrize('start', ['2031-01-01T10:00:00Z', 'now'])
def test_one_of_many_requests_for_the_last_host_gets_it(scene, demo, start):
    body = {'name': scene.name(), 'start': start, 'duration': 3600, 'reservations': [{
        'resource_type': 'physical:host', 'min': 1, 'max': 1,
        'resource_properties': json.dumps(['==', '$rack', 'right'])}]}
    token = demo.session.get_token()

    def ask():
        return requests.post(settings.url('climate', '/v1/leases'), json=body, timeout=60, headers={
            'X-Auth-Token': token, 'OpenStack-API-Version': 'reservation 1.1'})
    for _ in range(3):
        answers = simultaneous.at_once(*[ask] * AT_ONCE)
        made = [answer.json()['lease']['id'] for answer in answers if answer.status_code == 201]
        for lease_id in made:
            scene.remember(lease_id)
        found = collections.Counter(answer.status_code for answer in answers)
        assert found == {201: 1, 409: AT_ONCE - 1}, [answer.text for answer in answers]
        print(f'slowest of {AT_ONCE}: {max(each.elapsed for each in answers)}')
        if start == 'now':
            break
        scene.climate().leases.delete(made[0])
