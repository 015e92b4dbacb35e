# SPDX-License-Identifier: Apache-2.0
"""The choice of a forecast method, with and without the library of the better one."""
import pytest

from climate import errors
from climate import forecasts
from climate.forecasts import simple


@pytest.mark.proof
def test_auto_chooses_the_better_method_if_there_is_enough_history():
    assert forecasts.load('auto', 24 * 14)[0] == 'holt-winters'
    assert forecasts.load('auto', 24 * 13)[0] == 'simple'
    assert forecasts.load('seasonal-naive', 24 * 90)[0] == 'seasonal-naive'


def test_auto_chooses_the_simple_method_without_the_library(monkeypatch, conf):
    monkeypatch.setattr(forecasts.loading, 'load_usable', lambda *_: {
        'simple': simple.Simple})
    assert forecasts.load('auto', 24 * 90)[0] == 'simple'
    forecasts.check(conf)


def test_a_configured_method_must_be_installed(conf):
    conf.set_override('method', 'dice', group='forecast')
    with pytest.raises(errors.ConfigurationError, match=r'"dice" is not installed.*holt-winters'):
        forecasts.check(conf)
