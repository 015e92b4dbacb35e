# SPDX-License-Identifier: Apache-2.0
"""The answers of the service for completion, kept in files, so that a shell never waits long.

A process of its own asks the service and writes the file. The shell waits for it for a moment only;
an answer that comes later serves the next completion.
"""
from collections.abc import Callable
from collections.abc import Mapping
import contextlib
import hashlib
import json
import os
import pathlib
import select
import signal
import tempfile
import time

#: An answer is used without a new question for this time, and after it if no new answer comes.
FRESH_SECONDS = 30.0
#: The shell waits this long for an answer.
PATIENCE_SECONDS = 1.5
#: No new question is asked for this time after one that was not answered.
PAUSE_SECONDS = 10.0
# The process that asks ends itself after this time.
_ASK_SECONDS = 30
_MODE = 0o700

Values = dict[str, str]


def folder(environ: Mapping[str, str]) -> pathlib.Path:
    """Return the folder of the files."""
    cache = environ.get('XDG_CACHE_HOME')
    base = pathlib.Path(cache) if cache else pathlib.Path(environ.get('HOME') or '/nonexistent',
                                                          '.cache')
    return base / 'climate' / 'completion'


def values(key: str, ask: Callable[[], Values], environ: Mapping[str, str]) -> Values:
    """Return {value: description} from a file, or from the service; {} without an answer.

    :param key: identifies the question, its caller and the service that answers.
    """
    place = folder(environ) / f'{hashlib.sha256(key.encode()).hexdigest()[:32]}.json'
    age, known = _read(place)
    if age is None or age > FRESH_SECONDS:
        with contextlib.suppress(OSError):
            place.parent.mkdir(mode=_MODE, parents=True, exist_ok=True)
            # Until there is an answer, this file stands for the question.
            _write(place, known, time.time() - FRESH_SECONDS + PAUSE_SECONDS)
            _wait_for(_start(place, ask))
            _age, known = _read(place)
    return known


def _read(place: pathlib.Path) -> tuple[float | None, Values]:
    """Return the age of a file in seconds, and its values; (None, {}) without one."""
    try:
        content = json.loads(place.read_text())
        return time.time() - place.stat().st_mtime, {
            str(value): str(text) for value, text in content.items()}
    except (OSError, ValueError, AttributeError):
        return None, {}


def _write(place: pathlib.Path, content: Values, changed_at: float | None = None) -> None:
    handle, name = tempfile.mkstemp(dir=place.parent)
    with os.fdopen(handle, 'w') as file:
        json.dump(content, file)
    if changed_at is not None:
        os.utime(name, (changed_at, changed_at))
    os.replace(name, place)


def _start(place: pathlib.Path, ask: Callable[[], Values]) -> int:
    """Start the process that asks; return a file descriptor that is closed when it has asked."""
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        return reader
    try:
        os.setsid()
        signal.alarm(_ASK_SECONDS)
        _close_all_but(writer)
        _write(place, ask())
    finally:
        # Without the clean-up of the interpreter, which belongs to the parent.
        os._exit(0)


def _close_all_but(kept: int) -> None:
    """Close what the shell reads from, because it waits until all programs have closed it."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf('SC_OPEN_MAX'))


def _wait_for(reader: int) -> None:
    select.select([reader], [], [], PATIENCE_SECONDS)
    os.close(reader)
