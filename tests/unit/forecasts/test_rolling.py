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
from climate.forecasts import simple

HOURS = np.arange(60 * base.DAY)
DAILY = 10 + 5 * np.sin(2 * np.pi * HOURS / base.DAY)
WEEKLY = DAILY * (1 + (HOURS // base.DAY % 7 < 5))


@functools.cache
def methods():
    """Return all methods. The libraries of the last one take seconds to load."""
    from climate.forecasts import holt_winters
    return seasonal_naive.SeasonalNaive(), simple.Simple(), holt_winters.HoltWinters()


@pytest.fixture(params=[0, 1, 2], ids=['SeasonalNaive', 'Simple', 'HoltWinters'])
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
    naive, *_, smooth = (rolling.forecast(method, series, base.WEEK) for method in methods())
    truth = 10 + 5 * np.sin(2 * np.pi * np.arange(base.WEEK) / base.DAY)
    assert np.abs(smooth.expected - truth).mean() < 0.6 * np.abs(naive.expected - truth).mean()


def test_an_unusual_day_changes_the_forecast_of_later_days_little():
    wild = DAILY.copy()
    wild[-base.DAY:] = 100
    for method in methods()[1:]:
        calm, moved = (rolling.forecast(method, series, 3 * base.DAY).expected[-base.DAY:].mean()
                       for series in (DAILY, wild))
        assert 0 <= moved - calm < 0.2 * (100 - DAILY.mean())


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
    found = rolling.forecast(simple.Simple(), DAILY[:base.DAY], base.DAY)
    assert (found.low80, found.high95, found.past_error) == (None, None, None)


@pytest.mark.parametrize('place', [1, 30, 200, 400])
def test_later_values_change_no_earlier_forecast(place):
    origins, ahead = np.array([[place]]), np.arange(100)[np.newaxis]
    for method in methods():
        changed = WEEKLY.copy()
        changed[place:] = 0
        for model, other in zip(method.models(WEEKLY), method.models(changed), strict=True):
            np.testing.assert_allclose(model.values(origins, ahead), other.values(origins, ahead))


@pytest.mark.parametrize('place', [1, 30, 200, 400, 1000])
def test_every_method_has_a_model_with_a_value_at_any_origin(place):
    for method in methods():
        values = np.stack([model.values(np.array([[place]]), np.arange(100)[np.newaxis])
                           for model in method.models(WEEKLY)])
        assert np.isfinite(values).any(axis=0).all()


def walk():
    """Return a series that drifts slowly without a season: a random walk."""
    return 50 + np.cumsum(np.random.default_rng(5).normal(0, 0.5, len(HOURS)))


def steps():
    """Return a series whose level jumps every nine days."""
    levels = np.random.default_rng(3).uniform(10, 90, 9)
    return np.repeat(levels, 9 * base.DAY)[:len(HOURS)]


@pytest.mark.parametrize('series', [walk(), steps(), DAILY, WEEKLY],
                         ids=['walk', 'steps', 'daily', 'weekly'])
@pytest.mark.parametrize('hours', [1, base.DAY])
def test_the_forecast_is_not_worse_than_the_best_simple_guess(series, hours):
    errors, guessed = [], []
    for origin in range(45 * base.DAY, 60 * base.DAY - hours, 17):
        column, row = np.array([[origin]]), np.array([[hours - 1]])
        truth = series[origin + hours - 1]
        found = rolling.forecast(methods()[1], series[:origin], hours)
        errors.append(abs(found.expected[-1] - truth))
        guessed.append([abs(model.values(column, row)[0, 0] - truth) for model in
                        methods()[1].models(series) if model.simple])
    assert np.mean(errors) <= 1.05 * np.mean(guessed, axis=0).min() + 1e-9


def test_the_forecast_follows_a_jump_at_once():
    series = np.where(HOURS < 59 * base.DAY + 12, 20.0, 60.0)
    found = rolling.forecast(methods()[1], series, 8)
    np.testing.assert_allclose(found.expected, 60.0)


@pytest.mark.parametrize('days', [2, 5, 10])
def test_a_short_history_is_forecast_by_the_guess_with_the_least_past_error(days):
    found = rolling.forecast(simple.Simple(), DAILY[:days * base.DAY], base.DAY)
    np.testing.assert_allclose(found.expected, DAILY[:base.DAY], atol=0.2)
