# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies: requests of users to nova-api, and answers in place of Climate's."""
import json

import booting
from hypothesis import strategies as st
import requests

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | (
    st.sampled_from(['', '1', 'true', 'now', '\ud800', 'x\r\ny', '2030-12-1 16:07', 10 ** 40]))
ANYTHING = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.text(max_size=5), inner, max_size=3), max_leaves=5)
#: JSON that is nested deeper than any request, as text.
DEEP = st.sampled_from([60, 900, 2000]).map(lambda depth: '[' * depth + ']' * depth)


def _mostly(value, otherwise=ANYTHING):
    return st.just(value) | st.just(value) | otherwise


PARAMS = st.fixed_dictionaries({}, optional={
    'end': _mostly('2030-12-01 16:07'), 'duration': _mostly('1h'), 'start': _mostly('now'),
    'name': ANYTHING, 'before_end': ANYTHING, 'on_end': _mostly('delete'), 'other': ANYTHING})
HINTS = st.fixed_dictionaries({}, optional={
    'reserved': _mostly(True) | st.sampled_from(['True', 'false', 1]),
    'lease_params': PARAMS.map(json.dumps) | PARAMS | _mostly('{"duration": "1h"}') | DEEP,
    'reservation': ANYTHING, 'group': ANYTHING})
SERVER = st.fixed_dictionaries({'name': _mostly('vm1'), 'flavorRef': _mostly('7')}, optional={
    'metadata': _mostly({'a': 'b'}), 'min_count': _mostly(1), 'max_count': _mostly('2'),
    'networks': ANYTHING})
BODIES = st.fixed_dictionaries({}, optional={
    'server': SERVER | SERVER | ANYTHING, booting.HINTS: HINTS | HINTS | ANYTHING,
    'OS-SCH-HNT:scheduler_hints': HINTS}) | ANYTHING
#: The bytes of a request that is to have a lease.
WELL_ASKED = st.builds(
    lambda more, deep: json.dumps({
        'server': {'name': 'vm1', 'flavorRef': '7', 'networks': 'deep'},
        booting.HINTS: {**more, **booting.RESERVED}}).replace('"deep"', deep).encode(),
    st.fixed_dictionaries({}, optional={'group': ANYTHING}),
    st.sampled_from(['"auto"', '[' * 60 + ']' * 60]))
#: The bytes of a request.
RAW = BODIES.map(lambda body: json.dumps(body).encode()) | WELL_ASKED | st.binary(max_size=20)

RESERVATION = st.fixed_dictionaries({'id': _mostly('r1')})
LEASE = st.fixed_dictionaries({
    'id': _mostly('l1'), 'start': _mostly(booting.MADE), 'created_at': _mostly(booting.MADE),
    'reservations': _mostly([{'id': 'r1'}], st.lists(RESERVATION | ANYTHING, max_size=2))})
REFUSAL = st.fixed_dictionaries({'error_name': _mostly('x'), 'error_message': _mostly('Why.')})
HOSTS = st.fixed_dictionaries({
    'id': _mostly('r1'), 'active': _mostly(True), 'usable': _mostly(True),
    'reason': _mostly('Why.'), 'service_hosts': _mostly(['mine'], st.lists(ANYTHING, max_size=2)),
    'ordinary': _mostly(False), 'server_id': _mostly(None)})
_GARBAGE = ANYTHING.map(json.dumps) | DEEP | st.just('<html>')
STATUSES = st.sampled_from([200, 201, 204, 301, 400, 401, 403, 404, 409, 413, 418, 422, 429, 500,
                            502, 503, 504])
ERRORS = st.sampled_from([
    requests.exceptions.ConnectionError, requests.exceptions.ConnectTimeout,
    requests.exceptions.ReadTimeout, requests.exceptions.SSLError,
    requests.exceptions.ChunkedEncodingError])
RETRY_AFTER = st.sampled_from(['3', '', '-1', 'soon', '9' * 5000, '²', 'Fri, 31 Dec 2030'])


def _answers(right):
    """ERRORS, or (status, text, Retry-After) of an answer that is somewhat like the right one."""
    return ERRORS | st.tuples(st.sampled_from([200, 201]), right.map(json.dumps), st.just('')) | (
        st.tuples(STATUSES, REFUSAL.map(json.dumps) | _GARBAGE, RETRY_AFTER))


#: What comes in place of Climate's answer about a lease.
OF_LEASES = _answers(st.fixed_dictionaries({'lease': LEASE}))
#: What comes in place of its answer to where a server may be placed.
OF_HOSTS = _answers(st.fixed_dictionaries({'reservation': HOSTS}))


def given(answer):
    """The callback with which requests-mock gives an answer of OF_LEASES or OF_HOSTS."""
    def called(request, context):
        if not isinstance(answer, tuple):
            raise answer('It is played.')
        context.status_code, text, context.headers['Retry-After'] = answer
        return text
    return called
