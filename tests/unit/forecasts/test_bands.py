# SPDX-License-Identifier: Apache-2.0
"""The widths of bands from known errors."""
import numpy as np

from climate.forecasts import bands


def errors_of(*days):
    """Return errors with one origin on each day, and one hour ahead."""
    return np.array(days, dtype=float).reshape(-1, 1, 1)


def test_the_widths_hold_slightly_more_than_their_share_of_errors_that_stay_alike():
    errors = np.random.default_rng(1).exponential(1.0, (28, 50, 1))
    narrow, wide = bands.widths(errors, 1)
    for width, share in ((narrow[0], 0.8), (wide[0], 0.95)):
        assert share < np.mean(errors <= width) < share + 0.04


def test_the_bands_are_wider_soon_after_the_errors_grow():
    calm, wild = (bands.widths(errors_of(*[1.0] * 26, *last), 1)
                  for last in ([1.0, 1.0], [10.0, 10.0]))
    assert wild[0][0] > 3 * calm[0][0]


def test_one_error_after_days_without_any_does_not_make_a_band_without_limit():
    narrow, wide = bands.widths(errors_of(*[0.0] * 20, 5.0, *[0.0] * 6, 5.0), 1)
    assert narrow[0] <= wide[0] < 100


def test_fewer_than_three_days_of_errors_make_no_bands():
    assert bands.widths(errors_of(1, 2), 1) is None
    assert bands.widths(errors_of(1, 2, np.nan), 1) is None
    assert bands.widths(errors_of(1, 2, 3), 1) is not None


def test_an_error_counts_only_from_the_day_on_which_it_is_known():
    sums = bands.faded(np.array([[1.0], [2.0], [4.0]]), 2, np.inf)
    np.testing.assert_array_equal(sums[:, 0], [0, 0, 1, 7])
