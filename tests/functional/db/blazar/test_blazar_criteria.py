# SPDX-License-Identifier: Apache-2.0
"""Criteria of Climate in the language of Blazar."""
import json

import pytest

from climate.db.blazar import blazar_criteria

GPU, VCPUS = ['==', '$gpu', 'A100'], ['>=', '$vcpus', '4']


@pytest.mark.parametrize('text', [
    '', '["==","$gpu","A100"]', '["=", "$gpu", "A100"]', json.dumps(['and', GPU, VCPUS])])
def test_criteria_that_blazar_reads_stay_as_they_are(text):
    assert blazar_criteria.expressed(text) == text


@pytest.mark.parametrize(('criteria', 'expected'), [
    (['>=', '$vcpus', 4], VCPUS), (['and', GPU, ['>=', '$vcpus', 4]], ['and', GPU, VCPUS])])
def test_numbers_become_texts(criteria, expected):
    assert json.loads(blazar_criteria.expressed(json.dumps(criteria))) == expected


@pytest.mark.parametrize('criteria', [[], None])
def test_empty_criteria_become_an_empty_text(criteria):
    assert blazar_criteria.expressed(criteria and json.dumps(criteria)) == ''


@pytest.mark.parametrize('criteria', [
    ['or', GPU, VCPUS], ['not', GPU], ['in', '$gpu', ['A100', 'H100']], ['s==', '$gpu', 'A100'],
    ['==', '$gpu', ''], ['==', '$gpu', None], ['==', '$gpu', True], ['==', '$gpu', ['A100']],
    ['==', '$trait:HW_GPU', 'required'], ['==', 'gpu', 'A100'], ['and', GPU, ['and', GPU, VCPUS]]])
def test_criteria_that_blazar_lacks_are_not_expressed(criteria):
    assert blazar_criteria.expressed(json.dumps(criteria)) is None
