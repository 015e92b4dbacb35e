# SPDX-License-Identifier: Apache-2.0
"""The number of free resources of each choice is the number that a new lease could get."""
import json
import random

import pytest
from support import builders

from climate import errors
from climate.domain import facets
from climate.domain import requirement

GPUS = (None, 'A100', 'H100', '1', '1.0', 'True', 'true')
RACKS = (None, 'r1', 'r2')
PARTS = (
    ['==', '$gpu', 'A100'], ['!=', '$rack', 'r1'], ['>=', '$vcpus', 32], ['<', '$vcpus', 64],
    ['in', '$gpu', ['A100', '1']], ['not', ['==', '$rack', 'r1']],
    ['or', ['==', '$gpu', 'H100'], ['==', '$rack', 'r2']])


@pytest.fixture
def fits(manager):
    """callable(count, criteria, start, seconds): whether a dry run of `count` hosts is accepted."""
    def accepted(count, criteria, start, seconds):
        request = builders.a_lease(
            builders.hosts(count, criteria=json.dumps(requirement.to_json(criteria))),
            start=start, duration_seconds=seconds, dry_run=True)
        try:
            manager.create(request)
        except errors.NotEnough:
            return False
        return True
    return accepted


def enrol_and_book(manager, draw):
    """Enrol eight hosts with random properties, and book some of them at random times."""
    for number in range(1, 9):
        found = {'gpu': draw.choice(GPUS), 'rack': draw.choice(RACKS)}
        manager.client.create_resource(builders.an_admin(), 'host', f'compute-{number}', {
            name: text for name, text in found.items() if text})
    for _ in range(4):
        start = draw.randint(0, 6)
        try:
            manager.book(builders.hosts(draw.randint(1, 4)), start=builders.at(start),
                         end=builders.at(start + draw.randint(1, 4)))
        except errors.NotEnough:
            continue
    manager.run()


@pytest.mark.parametrize('seed', range(5))
def test_each_count_is_what_a_dry_run_accepts(manager, fits, seed):
    draw = random.Random(seed)
    enrol_and_book(manager, draw)
    parts = [requirement.parse(each) for each in draw.sample(PARTS, draw.randint(0, 3))]
    wanted = requirement.conjunction(*parts)
    start, seconds = builders.at(draw.randint(0, 6)), draw.randint(1, 4) * 3600
    answer = manager.client.find_facets(builders.a_member(), facets.FacetQuery(
        'host', start=start, duration_seconds=seconds,
        criteria=json.dumps(requirement.to_json(wanted))))
    choices = [(wanted, answer.free)]
    for facet in answer.facets:
        if facet.name not in ('gpu', 'rack', 'vcpus'):
            continue
        others = [part for part in requirement.criteria(wanted)
                  if requirement.names(part) != {facet.name}]
        choices += [(requirement.conjunction(*others, requirement.parse(
            ['==', f'${facet.name}', each.value])), each.free) for each in facet.values]
    for criteria, free in choices:
        assert not fits(free + 1, criteria, start, seconds)
        assert free == 0 or fits(free, criteria, start, seconds)


def test_equal_values_are_one_choice(manager):
    for number, gpu in enumerate(('1', '1.0', 'True', 'true', 'TRUE'), 1):
        manager.client.create_resource(builders.an_admin(), 'host', f'compute-{number}',
                                       {'gpu': gpu})
    answer = manager.client.find_facets(builders.a_member(), facets.FacetQuery('host'))
    (gpus,) = [each for each in answer.facets if each.name == 'gpu']
    assert [each.matching for each in gpus.values] == [2, 3]


def test_a_facet_lists_the_most_frequent_values(manager, monkeypatch):
    monkeypatch.setattr(facets, 'MOST_VALUES', 2)
    for number, rack in enumerate(('r1', 'r2', 'r2', 'r3', 'r3'), 1):
        manager.client.create_resource(builders.an_admin(), 'host', f'compute-{number}',
                                       {'rack': rack})
    answer = manager.client.find_facets(builders.a_member(), facets.FacetQuery('host'))
    (racks,) = [each for each in answer.facets if each.name == 'rack']
    assert [each.value for each in racks.values] == ['r2', 'r3'] and racks.more
