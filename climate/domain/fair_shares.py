# SPDX-License-Identifier: Apache-2.0
"""Shares of projects in the use of all projects, in which past use counts less and less.

The use of a day counts fully until its end, and half as much after each half-life. The order of
the wait queue needs whole numbers, so that projects with nearly the same use have the same share.
"""
from collections.abc import Iterable
from collections.abc import Mapping

from climate.domain import usage_figures

#: The share of a project that has had all of the use.
WHOLE = 10_000
#: Use that is this number of half-lives old does not count.
MOST_HALF_LIVES = 16


def weight(age_seconds: float, half_life_days: float) -> float:
    """Return the part of a use that counts at an age; 1 for use of the present day."""
    return float(0.5 ** (max(0, age_seconds) / (half_life_days * usage_figures.DAY_SECONDS)))


def decayed(uses: Iterable[tuple[str, int, int]], at: int,
            half_life_days: float) -> dict[str, float]:
    """Return {project id: decayed use in resource-seconds} at a second.

    :param uses: triples (project id, first second of a day, resource-seconds of this day).
    """
    sums: dict[str, float] = {}
    for project_id, day, seconds in uses:
        part = seconds * weight(at - day - usage_figures.DAY_SECONDS, half_life_days)
        sums[project_id] = sums.get(project_id, 0) + part
    return sums


def shares(uses: Mapping[str, float]) -> dict[str, int]:
    """Return {project id: its share of all `uses`, as a part of WHOLE}; shares of 0 are left out.

    :param uses: {project id: decayed use}.
    """
    total = sum(uses.values())
    rounded = {project_id: round(WHOLE * use / total) for project_id, use in uses.items() if use}
    return {project_id: share for project_id, share in rounded.items() if share}


def as_percent(share: int) -> str:
    """Return a share as text, such as "12.5 %"."""
    return f'{100 * share / WHOLE:.3g} %'
