# SPDX-License-Identifier: Apache-2.0
"""The service answers every body, whatever it contains, without a 500."""
import hypothesis
from hypothesis import strategies as st
import pytest
from support import builders

SETTINGS = hypothesis.settings(
    max_examples=50,
    suppress_health_check=list(hypothesis.HealthCheck))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(
    max_size=12) | st.sampled_from([
        'now', '', '1', '2030-05-01 13:00', '2030-05-01T15:00:00Z', '9998-12-31 23:59', '1h',
        'physical:host', 'virtual:dummy', 'notify', '["==", "$vcpus", "16"]', 'default', 10 ** 40])
ANYTHING = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.text(max_size=5), inner, max_size=3), max_leaves=6)
RESERVATION = st.fixed_dictionaries({}, optional={
    'resource_type': st.just('physical:host') | ANYTHING, 'id': ANYTHING,
    'min': st.integers(-1, 5) | ANYTHING, 'max': st.integers(-1, 9) | ANYTHING,
    'resource_properties': ANYTHING, 'hypervisor_properties': ANYTHING, 'before_end': ANYTHING,
    'extra_specs': ANYTHING})
EVENT = st.fixed_dictionaries({}, optional={
    'type': ANYTHING, 'time': ANYTHING, 'event_type': ANYTHING, 'event_date': ANYTHING})
NEAR = st.fixed_dictionaries({}, optional={
    'name': st.just('x') | ANYTHING, 'start': ANYTHING, 'end': ANYTHING, 'duration': ANYTHING,
    'start_date': st.just('now') | ANYTHING, 'end_date': st.just('2030-05-01 14:00') | ANYTHING,
    'before_end': ANYTHING, 'before_end_date': ANYTHING,
    'reservations': st.lists(RESERVATION | ANYTHING, max_size=3) | ANYTHING,
    'events': st.lists(EVENT | ANYTHING, max_size=3) | ANYTHING})
BODIES = NEAR | ANYTHING
VERSIONS = st.sampled_from(['1.0', '1.1'])


def test_no_body_of_a_lease_makes_the_service_fail(api, manager):
    manager.enrol(2)

    @SETTINGS
    @hypothesis.given(BODIES, VERSIONS)
    def every(body, version):
        answer = api.post('/v1/leases', body, version=version)
        assert answer.status_int < 500, (body, answer.body)

    every()


@pytest.mark.proof
def test_no_body_of_a_change_makes_the_service_fail(api, manager):
    manager.enrol(2)
    lease = api.post('/v1/leases', builders.a_body()).json['lease']
    mine = st.just([{'id': lease['reservations'][0]['id']}])

    @SETTINGS
    @hypothesis.given(BODIES, VERSIONS, mine | st.none(), RESERVATION)
    def every(body, version, reservations, changes):
        if reservations is not None and isinstance(body, dict):
            body = {**body, 'reservations': [{**changes, **reservations[0]}]}
        answer = api.put(f'/v1/leases/{lease["id"]}', body, version=version)
        assert answer.status_int < 500, (body, answer.body)

    every()


@pytest.mark.proof
def test_no_body_of_a_host_makes_the_service_fail(api, manager):
    [host] = manager.enrol(1)

    @SETTINGS
    @hypothesis.given(st.dictionaries(st.text(max_size=70), ANYTHING, max_size=4) | ANYTHING)
    def every(body):
        for method, path, version in (
                ('POST', '/v1/os-hosts', None), ('PUT', f'/v1/os-hosts/{host.id}', None),
                ('POST', '/v1/resources/host', '1.1'),
                ('PUT', f'/v1/resources/host/{host.id}', '1.1')):
            answer = api.call(method, path, body, token=builders.ADMIN, version=version)
            assert answer.status_int < 500, (body, answer.body)

    every()
