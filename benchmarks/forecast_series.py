# SPDX-License-Identifier: Apache-2.0
"""Made-up series of the hosts in use by hour, always the same: each has its seed."""
import numpy as np

from climate.forecasts import base

DAYS = 90


def drift(chance, hours):
    """Return a level that changes slowly and at random."""
    return 50 + np.cumsum(chance.normal(0, 0.5, len(hours)))


def jumps(chance, hours):
    """Return a level that jumps every nine days."""
    levels = np.repeat(chance.uniform(10, 90, DAYS // 9), 9 * base.DAY)
    return levels + chance.normal(0, 3, len(hours))


def daily(chance, hours):
    """Return more use in the afternoon than at night."""
    return (40 + 25 * np.sin(2 * np.pi * (hours - 9) / base.DAY)
            + chance.normal(0, 5, len(hours)))


def weekly(chance, hours):
    """Return the use of offices: from 8 to 18, from Monday to Friday."""
    work = (hours % base.DAY >= 8) & (hours % base.DAY < 18) & (hours // base.DAY % 7 < 5)
    return 20 + 45 * work + chance.normal(0, 5, len(hours))


def bursts(chance, hours):
    """Return little use, with large jobs of some hours at random times."""
    used = 2 + chance.normal(0, 0.5, len(hours))
    for start in np.flatnonzero(chance.random(len(hours)) < 1 / 18):
        used[start:start + int(chance.exponential(7)) + 1] += chance.exponential(15)
    return used


def made():
    """Return the series, {name: array}."""
    hours = np.arange(DAYS * base.DAY)
    return {make.__name__: make(np.random.default_rng(seed), hours).clip(0)
            for seed, make in enumerate((drift, jumps, daily, weekly, bursts), start=1)}
