# SPDX-License-Identifier: Apache-2.0
"""When a project has used so much of a limit that it is told."""
from collections.abc import Collection
from collections.abc import Mapping

# So many percent of the limit less, and the next crossing is told again.
_LESS = 10


def crossings(used: Mapping[str, int], told: Collection[str], most: int, percent: int
              ) -> tuple[list[str], list[str]]:
    """Return the projects that are told now, and those that have used clearly less since then.

    A project whose use goes up and down around the mark is told once.

    :param used: {project id: how many it has}; an absent one has none.
    :param told: the projects that were told of their last crossing.
    :param most: the limit.
    :param percent: the mark, in percent of the limit.
    """
    # Half of a low mark, so that there is something below it.
    low = max(percent - _LESS, percent / 2)
    over = [each for each in told if used.get(each, 0) * 100 < most * low]
    new = [each for each, count in used.items()
           if count > 0 and count * 100 >= most * percent and each not in told]
    return sorted(new), sorted(over)
