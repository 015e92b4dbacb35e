# SPDX-License-Identifier: Apache-2.0
"""The attachments of volumes by Nova, against canned answers."""
import pytest

from climate import errors


@pytest.fixture
def attachments(canned):
    return canned.cloud().as_service().attachments


def _address(canned, *more):
    return '/'.join((canned.NOVA, 'servers', 's1', 'os-volume_attachments', *more))


def test_a_volume_is_attached(attachments, canned):
    canned.http.post(_address(canned), json={'volumeAttachment': {'id': 'v1'}})
    attachments.attach('s1', 'v1')
    [asked] = canned.asked('POST', '/os-volume_attachments')
    assert asked.json() == {'volumeAttachment': {'volumeId': 'v1'}}


@pytest.mark.parametrize(('status', 'kind'), [
    (404, errors.TargetGone), (400, errors.StillBusy), (409, errors.StillBusy)])
def test_what_nova_refuses_is_known(attachments, canned, status, kind):
    canned.http.post(_address(canned), status_code=status, json={})
    with pytest.raises(kind):
        attachments.attach('s1', 'v1')


def test_a_volume_is_detached_and_one_that_is_not_attached_is_too(attachments, canned):
    canned.http.delete(_address(canned, 'v1'), [
        {'status_code': 202}, {'status_code': 404, 'json': {}}, {'status_code': 409, 'json': {}}])
    attachments.detach('s1', 'v1')
    attachments.detach('s1', 'v1')
    with pytest.raises(errors.StillBusy):
        attachments.detach('s1', 'v1')
