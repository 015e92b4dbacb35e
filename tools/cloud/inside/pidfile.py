# SPDX-License-Identifier: Apache-2.0
"""Pid files that cannot name a stranger: a pid and the moment at which its process began."""
import os
import pathlib


def began(pid):
    """Return the start of the process in clock ticks since boot; None: it is gone or a zombie."""
    fields = stat(pid)
    return int(fields[19]) if fields and fields[0] != 'Z' else None


def stat(pid):
    """The fields of /proc/PID/stat from the state on; empty when the process is gone."""
    try:
        text = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return []
    return text.rsplit(')', 1)[1].split()


def write(path, pid):
    """Note that `pid` is the process of this file, in one step."""
    unfinished = pathlib.Path(f'{path}.{os.getpid()}.new')
    unfinished.write_text(f'{pid} {began(pid) or 0}\n')
    unfinished.replace(path)


def read(path):
    """(pid, began) as noted; None when there is no such file or nothing useful in it."""
    try:
        pid, moment = pathlib.Path(path).read_text().split()
        return int(pid), int(moment)
    except (OSError, ValueError):
        return None


def alive(path):
    """The pid, if its process still runs and is the one that was noted; else None."""
    noted = read(path)
    return noted[0] if noted and began(noted[0]) == noted[1] else None
