# SPDX-License-Identifier: Apache-2.0
"""The network interfaces of Nova's servers, against canned answers."""
import pytest

from climate import errors


def test_a_port_is_detached_and_one_that_is_not_attached_is_told(canned):
    canned.http.delete(f'{canned.NOVA}/servers/s1/os-interface/p1', [
        {'status_code': 202}, {'status_code': 404, 'json': {}}, {'status_code': 409, 'json': {}}])
    interfaces = canned.cloud().as_service().interfaces
    assert interfaces.detach('s1', 'p1') is True
    assert interfaces.detach('s1', 'p1') is False
    with pytest.raises(errors.StillBusy):
        interfaces.detach('s1', 'p1')
