# SPDX-License-Identifier: Apache-2.0
"""Display of the progress of a wait, on stderr."""
from collections.abc import Mapping
import typing


class Progress:
    """Shows the progress of a wait: one rewritten line on a terminal, else one for each status.

    A context manager that is called with the lease and the seconds waited.

    :param quiet: show nothing.
    """

    def __init__(self, stream: typing.TextIO, *, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._rewrites = stream.isatty()
        self._last = ''

    def __call__(self, lease: Mapping[str, typing.Any], waited_seconds: float) -> None:
        if self._quiet:
            return
        text = f'Lease {lease["name"]}: {lease["status"]}'
        if lease.get('status_reason'):
            text += f' ({lease["status_reason"]})'
        if self._rewrites:
            line = f'{text}, {waited_seconds:.0f} s'
            self._stream.write('\r' + line.ljust(len(self._last)))
            self._last = line
        elif text != self._last:
            self._stream.write(text + '\n')
            self._last = text
        self._stream.flush()

    def __enter__(self) -> 'Progress':
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._rewrites and self._last:
            self._stream.write('\n')
            self._stream.flush()
