# SPDX-License-Identifier: Apache-2.0
"""The attachments of volumes and ports by Nova, against canned answers."""
import pytest

from climate import errors


@pytest.fixture
def attachments(canned):
    return canned.cloud().as_service().attachments


def _address(canned, *more):
    return '/'.join((canned.NOVA, 'servers', 's1', 'os-volume_attachments', *more))


def test_a_volume_is_attached(attachments, canned):
    canned.http.post(_address(canned), json={'volumeAttachment': {'id': 'v1'}})
    attachments.attach_volume('s1', 'v1')
    [asked] = canned.asked('POST', '/os-volume_attachments')
    assert asked.json() == {'volumeAttachment': {'volumeId': 'v1'}}


@pytest.mark.parametrize(('status', 'kind'), [
    (404, errors.TargetGone), (400, errors.StillBusy), (409, errors.StillBusy)])
def test_a_refusal_to_attach_has_a_cause(attachments, canned, status, kind):
    canned.http.post(_address(canned), status_code=status, json={})
    with pytest.raises(kind):
        attachments.attach_volume('s1', 'v1')


def test_detaching_a_volume_can_be_repeated(attachments, canned):
    canned.http.delete(_address(canned, 'v1'), [
        {'status_code': 202}, {'status_code': 404, 'json': {}}, {'status_code': 409, 'json': {}}])
    attachments.detach_volume('s1', 'v1')
    attachments.detach_volume('s1', 'v1')
    with pytest.raises(errors.StillBusy):
        attachments.detach_volume('s1', 'v1')


def test_detaching_a_port_returns_whether_it_was_attached(attachments, canned):
    canned.http.delete(f'{canned.NOVA}/servers/s1/os-interface/p1', [
        {'status_code': 202}, {'status_code': 404, 'json': {}}, {'status_code': 409, 'json': {}}])
    assert attachments.detach_port('s1', 'p1') is True
    assert attachments.detach_port('s1', 'p1') is False
    with pytest.raises(errors.StillBusy):
        attachments.detach_port('s1', 'p1')
