# SPDX-License-Identifier: Apache-2.0
"""Arguments about the acquisition of the resources of a new lease."""
import argparse
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments

TYPES = ('immediate', 'scheduled', 'retries', 'best-effort', 'wait')
# The arguments of each type: {type: {argument: field in the request}}.
_OPTIONS = {
    'retries': {'retries': 'retries', 'retry_pause': 'retry_pause_seconds'},
    'best-effort': {'try_for': 'timeout_seconds', 'strategy': 'strategy'},
    'wait': {'not_after': 'not_after', 'priority': 'priority'},
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to the parser of a command that creates a lease."""
    parser.add_argument('--acquire', metavar='TYPE', choices=TYPES,
                        help='What to do if too few resources are free: fail (immediate, '
                             'scheduled), try again (retries), move servers of other projects '
                             'away (best-effort), or queue (wait). Default: immediate, or '
                             'scheduled for a later start.')
    parser.add_argument('--retries', metavar='COUNT', type=arguments.positive,
                        help='retries: the number of further attempts.')
    parser.add_argument('--retry-pause', metavar='SPAN', type=arguments.span,
                        help=f'retries: the first pause: {times.SPAN_HELP}.')
    parser.add_argument('--try-for', metavar='SPAN', type=arguments.span,
                        help='best-effort: give up after this time.')
    parser.add_argument('--strategy', metavar='NAME',
                        help='best-effort: which servers to move first: fewest-instances, '
                             'least-memory, stopped-first, cheapest, or another strategy of '
                             'the operator.')
    parser.add_argument('--not-after', metavar='TIME', type=arguments.moment,
                        help='wait: leave the queue at this time.')
    parser.add_argument('--priority', metavar='NUMBER', type=arguments.whole,
                        help='wait: requests with a higher number come first; for administrators.')


def from_args(parsed_args: argparse.Namespace) -> dict[str, typing.Any] | None:
    """Convert the arguments to what ``leases.create`` takes as `acquire`; None if none is given.

    :raises BadValue: an argument belongs to another type.
    """
    fields: dict[str, typing.Any] = {}
    for kind, options in _OPTIONS.items():
        for name, field in options.items():
            value = getattr(parsed_args, name)
            if value is None:
                continue
            if parsed_args.acquire != kind:
                raise errors.BadValue(f'--{name.replace("_", "-")} goes with --acquire {kind}.')
            fields[field] = value
    return {'type': parsed_args.acquire, **fields} if parsed_args.acquire else None
