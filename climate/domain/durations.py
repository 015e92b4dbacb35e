# SPDX-License-Identifier: Apache-2.0
"""The durations in requests and documents, with errors that name the field."""
from typing import Any

from climate import errors
from climate import moments

_LONGEST_SECONDS = 100 * 366 * 86400


def seconds(field: str, value: Any, at_least: int = 1) -> int:
    """Parse a duration: a number of seconds, or text such as "90m", "1.5h", "PT1H30M".

    :param at_least: 1, or 0 if a duration of zero is valid.
    :raises BadField: `value` is malformed, shorter than `at_least`, or longer than a century.
    """
    number = value if isinstance(value, int) and not isinstance(value, bool) else -1
    way_out = f'write {moments.DURATION_HELP}'
    if isinstance(value, str):
        try:
            number = moments.seconds(value)
        except moments.NotUnderstoodError as error:
            way_out = str(error)
    if number > _LONGEST_SECONDS:
        raise errors.BadField(field=field, reason=(
            f'"{str(value)[:80]}" is longer than a century, the maximum.'))
    if number < at_least:
        raise errors.BadField(field=field, reason=(
            f'"{str(value)[:80]}" is not a duration: {way_out}.'))
    return number
