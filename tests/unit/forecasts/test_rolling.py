# SPDX-License-Identifier: Apache-2.0
"""Forecasts of series whose future is known, and the widths of their bands."""
import functools

import hypothesis
from hypothesis import strategies as st
import numpy as np
import pytest

from climate import forecasts
from climate.forecasts import base
from climate.forecasts import rolling
from climate.forecasts import seasonal_naive

HOURS = np.arange(60 * base.DAY)
DAILY = 10 + 5 * np.sin(2 * np.pi * HOURS / base.DAY)
WEEKLY = DAILY * (1 + (HOURS // base.DAY % 7 < 5))


@functools.cache
def methods():
    """The naive method and that of Holt and Winters, whose libraries take seconds to load."""
    from climate.forecasts import holt_winters
    return seasonal_naive.SeasonalNaive(), holt_winters.HoltWinters()


@pytest.fixture(params=[0, 1], ids=['SeasonalNaive', 'HoltWinters'])
def method(request):
    return methods()[request.param]


@pytest.mark.parametrize('series', [DAILY, WEEKLY], ids=['daily', 'weekly'])
def test_the_forecast_of_a_periodic_series_continues_it(method, series):
    found = rolling.forecast(method, series[:-base.WEEK], base.WEEK)
    assert np.abs(found.expected - series[-base.WEEK:]).max() < 0.05 * series.max()
    assert found.past_error < 0.05 * series.max()


@pytest.mark.proof
def test_the_bands_of_a_noisy_series_hold_about_what_they_should(method):
    series = (DAILY + np.random.default_rng(7).normal(0, 2, len(DAILY))).clip(0)
    inside, wider = [], []
    for day in range(40, 59):
        found = rolling.forecast(method, series[:day * base.DAY], base.DAY)
        truth = series[day * base.DAY:(day + 1) * base.DAY]
        inside.append((found.low80 <= truth) & (truth <= found.high80))
        wider.append((found.low95 <= truth) & (truth <= found.high95))
    assert 0.7 < np.mean(inside) < 0.9
    assert 0.9 < np.mean(wider) <= 1


def test_noise_is_smoothed_and_not_repeated():
    series = (DAILY + np.random.default_rng(7).normal(0, 2, len(DAILY))).clip(0)
    smooth, naive = (rolling.forecast(method, series, base.WEEK) for method in reversed(methods()))
    truth = 10 + 5 * np.sin(2 * np.pi * np.arange(base.WEEK) / base.DAY)
    assert np.abs(smooth.expected - truth).mean() < 0.6 * np.abs(naive.expected - truth).mean()


def test_an_unusual_day_changes_the_forecast_little():
    wild = DAILY.copy()
    wild[-base.DAY:] = 100
    for model, other in zip(*(methods()[1].models(each) for each in (DAILY, wild)), strict=True):
        calm, moved = (each.day(len(DAILY), 0).mean() for each in (model, other))
        assert 0 < moved - calm < 0.2 * (100 - DAILY.mean())


@hypothesis.settings(max_examples=30)
@hypothesis.given(st.integers(0, 30 * 24), st.integers(1, 100), st.integers(0, 9))
def test_any_history_has_a_forecast_and_the_bands_contain_it(length, hours, seed):
    series = np.random.default_rng(seed).integers(0, 9, length).astype(float)
    _, method = forecasts.load('auto', length)
    found = rolling.forecast(method, series, hours)
    assert len(found.expected) == hours and np.isfinite(found.expected).all()
    assert (found.expected >= 0).all()
    if found.low80 is not None:
        assert (found.low80 <= found.expected).all() and (found.expected <= found.high80).all()
        assert (found.low80 >= 0).all()


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('level', [0.0, 5.0])
def test_a_series_without_changes_has_bands_without_width(level):
    for method in methods():
        found = rolling.forecast(method, np.full(30 * base.DAY, level), base.DAY)
        for values in (found.low95, found.expected, found.high95):
            np.testing.assert_allclose(values, level, atol=1e-9)


def test_a_past_that_is_too_short_has_no_bands():
    found = rolling.forecast(seasonal_naive.SeasonalNaive(), DAILY[:10 * base.DAY], base.DAY)
    assert (found.low80, found.high95, found.past_error) == (None, None, None)


def test_later_values_change_no_earlier_forecast():
    for method in methods():
        [*models] = method.models(WEEKLY)
        changed = WEEKLY.copy()
        changed[40 * base.DAY:] = 0
        for model, other in zip(models, method.models(changed), strict=True):
            for ahead in (0, 3):
                np.testing.assert_allclose(model.day(40 * base.DAY, ahead),
                                           other.day(40 * base.DAY, ahead))
