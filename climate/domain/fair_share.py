# SPDX-License-Identifier: Apache-2.0
"""How projects share the workers that send notifications."""
from collections.abc import Sequence


def chosen(due: Sequence[tuple[int, int]], free: int) -> list[int]:
    """Return the ids of the deliveries that are sent now by workers that are free.

    A project may have as many deliveries in flight as workers are free. So one project alone,
    whose receivers are slow, leaves half of the workers to the others.

    :param due: pairs (id, how many of the same project are in flight or before it), the fewest
        first.
    """
    found: list[int] = []
    for each, ahead in due:
        if ahead >= free - len(found):
            break
        found.append(each)
    return found
