# SPDX-License-Identifier: Apache-2.0
"""The arguments of python-blazarclient that move one end of a lease and leave the other."""
import argparse
from collections.abc import Mapping
import typing

from climate.client import times
from climate.client.commands import arguments

# {argument: (the end of the lease that it moves, the direction, help)}.
_SHIFTS = {
    'prolong_for': ('end', 1, 'End this much later'),
    'reduce_by': ('end', -1, 'End this much earlier'),
    'defer_by': ('start', 1, 'Start this much later, and end as before'),
    'advance_by': ('start', -1, 'Start this much earlier, and end as before'),
}


def add(groups: Mapping[str, typing.Any]) -> None:
    """Add the arguments to groups of mutually exclusive ones.

    :param groups: {'start' or 'end': the group of arguments that set it}.
    """
    for name, (moved, _, text) in _SHIFTS.items():
        groups[moved].add_argument(f'--{name.replace("_", "-")}', metavar='SPAN',
                                   type=arguments.span, help=f'{text}: {times.SPAN_HELP}.')


def given(parsed_args: argparse.Namespace) -> bool:
    """Return whether one of the arguments was given."""
    return any(getattr(parsed_args, name) is not None for name in _SHIFTS)


def changes(parsed_args: argparse.Namespace, lease: Mapping[str, typing.Any]) -> dict[str, str]:
    """Return {'start' or 'end': new moment} of a lease, as the library takes it."""
    now = times.utcnow()
    return {moved: times.iso(times.moment(lease[moved], now)
                             + sign * times.span(getattr(parsed_args, name)))
            for name, (moved, sign, _) in _SHIFTS.items()
            if getattr(parsed_args, name) is not None}
