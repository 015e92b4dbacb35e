# SPDX-License-Identifier: Apache-2.0
"""The adapter of Magnum, against canned answers."""
import pytest

from climate import errors
from climate.cloud import magnum
from climate.cloud import models


@pytest.fixture
def clusters(canned):
    return canned.cloud().as_service().clusters


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(magnum, '_POLL_SECONDS', 0)


def _cluster(cluster_id, **fields):
    return {'uuid': cluster_id, 'name': 'c', 'project_id': 'demo', 'status': 'CREATE_COMPLETE',
            'status_reason': None, 'flavor_id': 'm1.small', **fields}


def _group(group_id, **fields):
    return {'uuid': group_id, 'name': 'g', 'role': 'worker', 'node_count': 2, 'is_default': False,
            'status': 'CREATE_COMPLETE', 'status_reason': None, **fields}


def _list(canned, *pages, path='/clusters', key='clusters'):
    canned.http.get(f'{canned.MAGNUM}{path}', [
        {'json': {key: page, **({'next': 'more'} if place < len(pages) else {})}}
        for place, page in enumerate(pages, 1)])


def test_a_cluster_is_read_with_node_groups_in_the_version(clusters, canned):
    canned.http.get(f'{canned.MAGNUM}/clusters/a', json=_cluster('a', status_reason='well'))
    assert clusters.cluster('a') == models.Cluster(
        id='a', name='c', project_id='demo', status='CREATE_COMPLETE', reason='well',
        flavor_id='m1.small')
    [asked] = canned.asked('GET', '/clusters/a')
    assert asked.headers['OpenStack-API-Version'] == 'container-infra 1.10'


def test_an_unknown_cluster_is_none_and_has_no_groups(clusters, canned):
    canned.http.get(f'{canned.MAGNUM}/clusters/a', status_code=404)
    canned.http.get(f'{canned.MAGNUM}/clusters/a/nodegroups', status_code=404)
    assert clusters.cluster('a') is None
    assert clusters.groups('a') == []


def test_clusters_of_a_name_are_those_of_the_project_and_oldest_first(clusters, canned):
    _list(canned, [{'uuid': 'a', 'name': 'c'}, {'uuid': 'b', 'name': 'other'}],
          [{'uuid': 'd', 'name': 'c'}, {'uuid': 'e', 'name': 'c'}, {'uuid': 'f', 'name': 'c'}])
    canned.http.get(f'{canned.MAGNUM}/clusters/a', json=_cluster('a', created_at='2030-02'))
    canned.http.get(f'{canned.MAGNUM}/clusters/d', json=_cluster('d', project_id='other'))
    canned.http.get(f'{canned.MAGNUM}/clusters/e', json=_cluster('e', created_at='2030-01'))
    canned.http.get(f'{canned.MAGNUM}/clusters/f', status_code=404)
    assert [each.id for each in clusters.named('c', 'demo')] == ['e', 'a']
    assert [each.qs.get('marker') for each in canned.asked('GET', '/clusters')] == [None, ['b']]
    assert canned.asked('GET', '/clusters/b') == []


def test_a_new_cluster_is_awaited_until_magnum_shows_all_of_it(clusters, canned):
    canned.http.post(f'{canned.MAGNUM}/clusters', status_code=202, json={'uuid': 'a'})
    canned.http.get(f'{canned.MAGNUM}/clusters/a', [
        {'status_code': 404},
        {'status_code': 400, 'json': {'errors': [{
            'detail': 'Invalid input for field/attribute master_count.'}]}},
        {'json': _cluster('a', status='CREATE_IN_PROGRESS')}])
    assert clusters.create('c', {'cluster_template_id': 't', 'node_count': 2, 'keypair': None,
                                 'labels': {'x': 'y'}}) == 'a'
    [asked] = canned.asked('POST', '/clusters')
    assert asked.json() == {'name': 'c', 'cluster_template_id': 't', 'node_count': 2,
                            'labels': {'x': 'y'}, 'merge_labels': True}


def test_a_new_cluster_that_magnum_does_not_show_is_not_awaited_for_ever(
        clusters, canned, monkeypatch):
    monkeypatch.setattr(magnum, '_SHOWN_SECONDS', 0)
    canned.http.post(f'{canned.MAGNUM}/clusters', status_code=202, json={'uuid': 'a'})
    canned.http.get(f'{canned.MAGNUM}/clusters/a', status_code=404)
    assert clusters.create('c', {'cluster_template_id': 't', 'node_count': 2}) == 'a'
    assert clusters.cluster('a') is None


def test_a_group_is_resized_by_its_id(clusters, canned):
    canned.http.post(f'{canned.MAGNUM}/clusters/a/actions/resize', status_code=202, json={})
    clusters.resize('a', 'g1', 3, ['s1'])
    [asked] = canned.asked('POST', '/clusters/a/actions/resize')
    assert asked.json() == {'node_count': 3, 'nodegroup': 'g1', 'nodes_to_remove': ['s1']}


def test_groups_are_read_with_their_status(clusters, canned):
    _list(canned, [{'uuid': 'g1'}, {'uuid': 'g2'}], path='/clusters/a/nodegroups',
          key='nodegroups')
    canned.http.get(f'{canned.MAGNUM}/clusters/a/nodegroups/g1', json=_group(
        'g1', role='master', is_default=True))
    canned.http.get(f'{canned.MAGNUM}/clusters/a/nodegroups/g2', json=_group(
        'g2', status='CREATE_FAILED', status_reason='why'))
    assert clusters.groups('a') == [
        models.NodeGroup('g1', 'g', 'CREATE_COMPLETE', '', 'master', 2, True),
        models.NodeGroup('g2', 'g', 'CREATE_FAILED', 'why', 'worker', 2, False)]


def test_a_new_group_is_awaited_until_magnum_lists_it(clusters, canned):
    canned.http.post(f'{canned.MAGNUM}/clusters/a/nodegroups', status_code=202, json={})
    canned.http.get(f'{canned.MAGNUM}/clusters/a/nodegroups', [
        {'json': {'nodegroups': []}}, {'json': {'nodegroups': [{'uuid': 'g1'}]}}])
    canned.http.get(f'{canned.MAGNUM}/clusters/a/nodegroups/g1', json=_group('g1'))
    clusters.create_group('a', 'g', 2, 'f')
    assert len(canned.asked('GET', '/clusters/a/nodegroups')) == 2
    [asked] = canned.asked('POST', '/clusters/a/nodegroups')
    assert asked.json() == {'name': 'g', 'node_count': 2, 'flavor_id': 'f'}


def test_a_group_of_a_cluster_without_an_address_is_busy(clusters, canned):
    canned.http.post(f'{canned.MAGNUM}/clusters/a/nodegroups', status_code=409, json={
        'errors': [{'detail': 'Cluster API address is not available yet.'}]})
    _list(canned, [], path='/clusters/a/nodegroups', key='nodegroups')
    with pytest.raises(errors.StillBusy, match='address'):
        clusters.create_group('a', 'g', 2, 'f')


def test_creating_an_existing_group_succeeds(clusters, canned):
    canned.http.post(f'{canned.MAGNUM}/clusters/a/nodegroups', status_code=409)
    _list(canned, [{'uuid': 'g1'}], path='/clusters/a/nodegroups', key='nodegroups')
    canned.http.get(f'{canned.MAGNUM}/clusters/a/nodegroups/g1', json=_group('g1'))
    clusters.create_group('a', 'g', 2, 'f')


def test_deleting_an_absent_cluster_or_group_succeeds(clusters, canned):
    canned.http.delete(f'{canned.MAGNUM}/clusters/a', status_code=404)
    canned.http.delete(f'{canned.MAGNUM}/clusters/a/nodegroups/g1', status_code=404)
    clusters.delete('a')
    clusters.delete_group('a', 'g1')


@pytest.mark.parametrize(('fields', 'usable'), [
    ({'public': True, 'project_id': 'other'}, True),
    ({'public': False, 'project_id': 'demo'}, True),
    ({'public': False, 'project_id': 'other'}, False)])
def test_a_template_is_public_or_of_the_project(clusters, canned, fields, usable):
    canned.http.get(f'{canned.MAGNUM}/clustertemplates/k8s', json={
        'uuid': 't', 'name': 'k8s', 'flavor_id': 'm1.small', 'master_flavor_id': None, **fields})
    expected = models.ClusterTemplate('t', 'k8s', 'm1.small', None) if usable else None
    assert clusters.template('k8s', 'demo') == expected


def test_a_template_may_be_unknown_or_ambiguous(clusters, canned):
    canned.http.get(f'{canned.MAGNUM}/clustertemplates/a', status_code=404)
    canned.http.get(f'{canned.MAGNUM}/clustertemplates/b', status_code=409)
    assert clusters.template('a', 'demo') is None
    with pytest.raises(errors.BadField, match='several'):
        clusters.template('b', 'demo')


def test_the_quota_is_what_is_used_and_the_limit(clusters, canned):
    canned.http.get(f'{canned.MAGNUM}/stats', json={'clusters': 3, 'nodes': 9})
    canned.http.get(f'{canned.MAGNUM}/quotas/demo/Cluster', json={'hard_limit': 20})
    assert clusters.quota('demo') == (3, 20)


def test_a_refusal_is_an_error_of_magnum(clusters, canned):
    canned.http.post(f'{canned.MAGNUM}/clusters', status_code=403, json={
        'errors': [{'detail': 'Resource limit exceeded.'}]})
    with pytest.raises(errors.CloudError) as refused:
        clusters.create('c', {'cluster_template_id': 't', 'node_count': 2})
    assert refused.value.owner_message.startswith('Magnum: ')
    assert refused.value.owner_message.endswith('Resource limit exceeded.')


@pytest.mark.parametrize(('answer', 'said'), [
    ({'json': {'errors': [{'title': 'Oops', 'detail': 'The conductor has no driver.'}]}},
     'Oops (HTTP 500): The conductor has no driver.'),
    ({'json': {'errors': [{'title': 'It broke.', 'detail': 'It broke.'}]}},
     'It broke. (HTTP 500)'),
    ({'json': {'errors': []}}, '(HTTP 500)'),
    ({'json': ['odd']}, '(HTTP 500)'),
    ({'text': '<html>'}, '(HTTP 500)')])
def test_the_detail_of_an_answer_is_a_part_of_the_reason(clusters, canned, answer, said):
    canned.http.get(f'{canned.MAGNUM}/stats', status_code=500, **{
        'headers': {'Content-Type': 'application/json'} if 'json' in answer else {}, **answer})
    with pytest.raises(errors.CloudError) as failed:
        clusters.quota('demo')
    assert failed.value.message.endswith(said)
