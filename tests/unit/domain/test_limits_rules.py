# SPDX-License-Identifier: Apache-2.0
"""The most specific limit of each group applies to an owner."""
import decimal

from climate.domain import requirement
from climate.domain.limits import rules


def _limit(name, most=1, **fields):
    return rules.Limit(**{'name': name, 'measure': rules.Measure.OPEN_LEASES,
                          'most': decimal.Decimal(most), **fields})


def _names(limits, project_id='p1', user_id='u1'):
    book = rules.LimitBook(1, None, tuple(limits))
    return [limit.name for limit in book.limits_for(project_id, user_id)]


def test_a_limit_of_the_project_replaces_the_one_for_everybody():
    limits = [_limit('everybody'), _limit('project', projects=frozenset({'p1', 'p2'}))]
    assert _names(limits) == ['project']
    assert _names(limits, project_id='p3') == ['everybody']


def test_a_limit_of_the_user_replaces_the_one_of_the_project():
    limits = [_limit('user', per=rules.Per.USER, users=frozenset({'u1'})),
              _limit('project', per=rules.Per.USER, projects=frozenset({'p1'})),
              _limit('everybody', per=rules.Per.USER)]
    assert _names(limits) == ['user']
    assert _names(limits, user_id='u2') == ['project']
    assert _names(limits, 'p2', 'u2') == ['everybody']


def test_limits_of_different_pools_measures_owners_and_criteria_all_apply():
    gpu = requirement.parse(['==', '$gpu', 'A100'])
    limits = [_limit('all'), _limit('hosts', pool='host'), _limit('user', per=rules.Per.USER),
              _limit('waiting', measure=rules.Measure.WAITING_LEASES),
              _limit('gpus', measure=rules.Measure.RESOURCES, criteria=gpu),
              _limit('p', pool='host', projects=frozenset({'p1'}))]
    assert _names(limits) == ['all', 'user', 'waiting', 'gpus', 'p']


def test_a_limit_of_a_user_adds_up_the_leases_of_the_user():
    assert _limit('a').owner_of('p1', 'u1') == rules.Owner(rules.Per.PROJECT, 'p1')
    assert _limit('a', per=rules.Per.USER).owner_of('p1', 'u1') == rules.Owner(
        rules.Per.USER, 'u1')


def test_a_limit_counts_resources_of_its_type_and_pool_that_meet_its_criteria():
    limit = _limit('gpus', resource_type='physical:host', pool='host',
                   criteria=requirement.parse(['==', '$gpu', 'A100']))
    assert limit.counts('physical:host', 'host', {'gpu': 'A100'})
    assert not limit.counts('physical:host', 'host', {'gpu': 'H100'})
    assert not limit.counts('physical:host', 'host', {})
    assert not limit.counts('virtual:instance', 'host', {'gpu': 'A100'})
    assert not limit.counts('physical:host', 'backend', {'gpu': 'A100'})
