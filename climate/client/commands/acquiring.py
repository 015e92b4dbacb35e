# SPDX-License-Identifier: Apache-2.0
"""How a new lease is to get its resources: the arguments, and what they say on the wire."""
import argparse
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments

TYPES = ('immediate', 'scheduled', 'retries', 'best-effort', 'wait')
# Arguments by the type that they belong to: {type: {name here: name on the wire}}.
_OPTIONS = {
    'retries': {'retries': 'retries', 'retry_pause': 'retry_pause_seconds'},
    'best-effort': {'try_for': 'timeout_seconds', 'strategy': 'strategy'},
    'wait': {'not_after': 'not_after', 'priority': 'priority'},
}


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of a command that makes a lease."""
    parser.add_argument('--acquire', metavar='TYPE', choices=TYPES,
                        help='What to do where there is no room: fail (immediate, scheduled), try '
                             'again (retries), move servers of others away (best-effort), or queue '
                             '(wait). Default: immediate, or scheduled for a later start.')
    parser.add_argument('--retries', metavar='COUNT', type=arguments.positive,
                        help='retries: try so often again.')
    parser.add_argument('--retry-pause', metavar='SPAN', type=arguments.span,
                        help=f'retries: the first pause: {times.SPAN_HELP}.')
    parser.add_argument('--try-for', metavar='SPAN', type=arguments.span,
                        help='best-effort: give up after this time.')
    parser.add_argument('--strategy', metavar='NAME',
                        help='best-effort: which servers to move rather: fewest-instances, '
                             'least-memory, stopped-first, cheapest, or one of the operator\'s.')
    parser.add_argument('--not-after', metavar='TIME', type=arguments.moment,
                        help='wait: leave the queue at this time.')
    parser.add_argument('--priority', metavar='NUMBER', type=int,
                        help='wait: the higher comes first; for administrators.')


def asked(parsed_args: argparse.Namespace) -> dict[str, typing.Any] | None:
    """What ``add`` added, as the library takes it; None where nothing is said.

    :raises BadValue: an argument belongs to another type.
    """
    found: dict[str, typing.Any] = {}
    for kind, options in _OPTIONS.items():
        for name, on_the_wire in options.items():
            value = getattr(parsed_args, name)
            if value is None:
                continue
            if parsed_args.acquire != kind:
                raise errors.BadValue(f'--{name.replace("_", "-")} goes with --acquire {kind}.')
            found[on_the_wire] = value
    return {'type': parsed_args.acquire, **found} if parsed_args.acquire else None
