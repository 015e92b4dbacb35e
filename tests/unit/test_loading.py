# SPDX-License-Identifier: Apache-2.0
"""The loader of plugins names what is missing or broken, or leaves it out."""
import logging

import pytest

from climate import errors
from climate import loading

GROUP = 'climate.cloud.simulated'


@pytest.fixture
def group(tmp_path, monkeypatch):
    """The entry points "broken", whose module is missing, and "sound", a class."""
    about = tmp_path / 'loaded-1.0.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: loaded\nVersion: 1.0\n')
    (about / 'entry_points.txt').write_text(
        '[climate.test]\nbroken = no_such_module:Class\nsound = collections:Counter\n')
    monkeypatch.syspath_prepend(tmp_path)
    return 'climate.test'


def test_load_returns_the_classes_in_the_order_of_the_names():
    assert list(loading.load(GROUP, ['nova', 'cinder', 'nova'], GROUP)) == ['nova', 'cinder']


def test_a_missing_entry_point_is_refused_with_the_installed_ones():
    with pytest.raises(errors.ConfigurationError) as refusal:
        loading.load(GROUP, ['nova', 'boxes'], '[DEFAULT] boxes')
    assert str(refusal.value) == (
        '[DEFAULT] boxes: "boxes" is not installed; installed are: cinder, glance, heat, '
        'keystone, magnum, neutron, nova, placement.')


def test_an_entry_point_that_does_not_load_is_refused_with_its_user_and_its_module(group):
    with pytest.raises(errors.ConfigurationError) as refusal:
        loading.load(group, ['sound', 'broken'], group, {'sound': 'a', 'broken': 'virtual:box'})
    assert str(refusal.value) == (
        'climate.test: "broken", which virtual:box uses, does not load: No module named '
        "'no_such_module'. Install the module no_such_module.")


def test_load_usable_leaves_out_what_does_not_load_and_logs_it(group, caplog):
    assert list(loading.load_usable(group, logging.WARNING)) == ['sound']
    assert [record.levelname for record in caplog.records if 'broken' in record.message] == [
        'WARNING']
