# SPDX-License-Identifier: Apache-2.0
"""The choice of a forecast method, with and without the library of the better one."""
import pytest

from climate import errors
from climate import forecasts
from climate.forecasts import seasonal_naive


@pytest.mark.proof
def test_auto_chooses_the_better_method_if_there_is_enough_history():
    assert forecasts.load('auto', 24 * 14)[0] == 'holt-winters'
    assert forecasts.load('auto', 24 * 13)[0] == 'seasonal-naive'
    assert forecasts.load('seasonal-naive', 24 * 90)[0] == 'seasonal-naive'


def test_auto_chooses_the_naive_method_without_the_library(monkeypatch, conf):
    monkeypatch.setattr(forecasts.loading, 'load_usable', lambda *_: {
        'seasonal-naive': seasonal_naive.SeasonalNaive})
    assert forecasts.load('auto', 24 * 90)[0] == 'seasonal-naive'
    forecasts.check(conf)


def test_a_configured_method_must_be_installed(conf):
    conf.set_override('method', 'dice', group='forecast')
    with pytest.raises(errors.ConfigurationError, match=r'"dice" is not installed.*holt-winters'):
        forecasts.check(conf)
