# SPDX-License-Identifier: Apache-2.0
"""Which method of forecasts is used, with and without its library."""
import pytest

from climate.forecasts import registry
from climate.forecasts import seasonal_naive


@pytest.fixture
def without_library(monkeypatch):
    monkeypatch.setattr(registry, '_usable', lambda: {
        'seasonal-naive': seasonal_naive.SeasonalNaive})


def test_the_better_method_is_used_if_it_is_installed_and_there_is_enough_history():
    assert registry.load('auto', 24 * 14)[0] == 'holt-winters'
    assert registry.load('auto', 24 * 13)[0] == 'seasonal-naive'
    assert registry.load('seasonal-naive', 24 * 90)[0] == 'seasonal-naive'


def test_without_the_library_the_naive_method_serves(without_library, conf):
    assert registry.load('auto', 24 * 90)[0] == 'seasonal-naive'
    registry.check(conf)


def test_a_method_that_is_named_must_be_installed(without_library, conf):
    conf.set_override('method', 'holt-winters', group='forecast')
    with pytest.raises(registry.Unusable, match=r'openstack-climate\[forecast\]'):
        registry.check(conf)
