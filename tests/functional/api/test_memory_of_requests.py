# SPDX-License-Identifier: Apache-2.0
"""A process keeps nothing of a request after its answer, whatever the answer was."""
import gc

import pytest
from support import builders

from climate import context

_TIMES = 5
REQUESTS = [
    ('GET', '/v1/leases', None), ('GET', '/v1/leases/nope', None), ('GET', '/v1/os-hosts', None),
    ('GET', '/v1/nope', None), ('PATCH', '/v1/leases', None),
    ('POST', '/v1/leases', builders.a_body()), ('POST', '/v1/leases', {}),
    ('DELETE', '/v1/leases/nope', None), ('PUT', '/v1/leases/nope', {'name': 'x'})]


def contexts():
    gc.collect()
    return sum(isinstance(each, context.RequestContext) for each in gc.get_objects())


@pytest.mark.proof
def test_a_request_leaves_no_context_in_memory(api):
    for request in REQUESTS:
        api.call(*request)
    before = contexts()
    for request in REQUESTS:
        for _ in range(_TIMES):
            api.call(*request)
    assert contexts() - before < _TIMES
