# SPDX-License-Identifier: Apache-2.0
"""A process keeps nothing of a request after its answer, whatever the answer was."""
import gc

import pytest
from support import builders

from climate import context

_TIMES = 5


def contexts():
    gc.collect()
    return sum(isinstance(each, context.RequestContext) for each in gc.get_objects())


@pytest.mark.parametrize(('method', 'path', 'body'), [
    ('GET', '/v1/leases', None), ('GET', '/v1/leases/nope', None), ('GET', '/v1/os-hosts', None),
    ('GET', '/v1/nope', None), ('PATCH', '/v1/leases', None),
    ('POST', '/v1/leases', builders.a_body()), ('POST', '/v1/leases', {}),
    ('DELETE', '/v1/leases/nope', None), ('PUT', '/v1/leases/nope', {'name': 'x'})])
def test_nothing_of_a_request_is_kept(api, method, path, body):
    api.call(method, path, body)
    before = contexts()
    for _ in range(_TIMES):
        api.call(method, path, body)
    assert contexts() - before < _TIMES
