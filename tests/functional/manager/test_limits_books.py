# SPDX-License-Identifier: Apache-2.0
"""The manager stores versions of the limit book, and uses a new one at once."""
import datetime

import pytest
from support import billing_cases
from support import builders

from climate import errors
from climate.manager.limits import books

HOUR = datetime.timedelta(hours=1)
LIMIT = {'name': 'four', 'measure': 'open_leases', 'most': 4}


def _add(manager, *limits, valid_from=None, **fields):
    return manager.client.create_limit_book(
        builders.an_admin(), valid_from, {'limits': list(limits), **fields})


def _names(manager, now=None):
    book = books.known(manager.core, now or manager.clock())
    return book and [limit.name for limit in book.limits]


def test_no_version_is_valid_before_the_first_one(manager):
    assert _names(manager) is None
    with pytest.raises(errors.NoLimitBook):
        manager.client.get_limit_book(builders.an_admin(), None)


def test_a_new_version_is_used_at_once_and_from_its_moment_on(manager):
    assert _names(manager) is None
    first = _add(manager, LIMIT)
    assert (first.version, first.valid_until) == (1, None)
    assert _names(manager) == ['four']
    _add(manager, valid_from=manager.clock() + HOUR)
    assert _names(manager) == ['four']
    assert _names(manager, manager.clock() + HOUR) == []
    stored = manager.client.list_limit_books(builders.an_admin())
    assert [(book.version, book.valid_until) for book in stored] == [
        (1, manager.clock() + HOUR), (2, None)]


def test_a_version_that_another_manager_adds_is_used_after_some_seconds(
        conf, database, clock, manager):
    other = builders.Manager(conf, database, clock)
    seconds = [0.0]
    object.__setattr__(other.core, 'monotonic', lambda: seconds[0])
    assert _names(other) is None
    _add(manager, LIMIT)
    assert _names(other) is None
    seconds[0] = 5.1
    assert _names(other) == ['four']


def test_a_version_that_is_added_while_the_versions_are_read_is_not_missed(manager):
    cache, core = manager.core.limit_books, manager.core

    def read_all(connection):
        cache.forget()
        return ('old',)
    assert cache.every(core, read_all) == ('old',)
    assert cache.every(core, lambda connection: ('new',)) == ('new',)


@pytest.mark.parametrize('limit, field, words', [
    ({'pool': 'moon'}, 'pool', 'choose from '),
    ({'resource_type': 'x'}, 'resource_type', 'enabled'),
    ({'resource_type': 'virtual:dummy', 'pool': 'host'}, 'pool', 'has no resources of "host"'),
    ({'measure': 'resources', 'unit': 'wheels'}, 'unit', 'vcpus'),
    ({'measure': 'resources', 'criteria': ['=', '$gpus', 'A100']}, 'criteria', 'gpu'),
    ({'measure': 'pool_share', 'pool': 'host', 'criteria': ['==', '$hypervisor_hostname', 'a']},
     'criteria', 'cannot depend on')])
def test_a_name_that_does_not_exist_is_refused(manager, limit, field, words):
    manager.enrol(1)
    billing_cases.known(manager, 'gpu')
    with pytest.raises(errors.BadField) as caught:
        _add(manager, {**LIMIT, **limit})
    assert caught.value.details['field'] == f'limits.0.{field}'
    assert words in caught.value.message
    assert manager.client.list_limit_books(builders.an_admin()) == []


def test_a_rule_of_extensions_for_an_unknown_pool_is_refused(manager):
    with pytest.raises(errors.BadField, match=r'extensions\.0\.pool'):
        _add(manager, extensions=[{'name': 'a', 'most': '7d', 'pool': 'moon'}])


def test_facts_capacities_and_resource_classes_are_names_that_exist(manager):
    manager.enrol(1)
    for number, limit in enumerate((
            {'criteria': ['>=', '$vcpus', '16']}, {'unit': 'vcpus'}, {'unit': 'VCPU'},
            {'unit': 'local_gb'}, {'criteria': ['=', '$hypervisor_type', 'QEMU']},
            {'criteria': ['=', '$trait:HW_CPU_X86_AVX2', 'required']})):
        _add(manager, {**LIMIT, 'measure': 'resources', **limit},
             valid_from=manager.clock() + number * HOUR)
