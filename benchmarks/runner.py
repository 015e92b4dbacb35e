# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks one after the other, each in a process of its own.

So the memory and the caches of one do not touch another, and one that dies leaves the others be.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from benchmarks import report

# Which rows of the table each module measures; 0 is what has no row there.
MODULES = {
    'benchmarks.lease': (0,),
    'benchmarks.planning': (1, 2, 14),
    'benchmarks.create': (3,),
    'benchmarks.enforced': (0,),
    'benchmarks.lists': (4,),
    'benchmarks.worst_list': (0,),
    'benchmarks.starts': (5, 13),
    'benchmarks.availability': (6,),
    'benchmarks.filter': (7,),
    'benchmarks.replay': (8,),
    'benchmarks.claims': (9,),
    'benchmarks.growth': (10,),
    'benchmarks.memory': (11, 12),
    'benchmarks.startup': (12,),
    'benchmarks.calls': (15,),
    'benchmarks.what_if': (16,),
    'benchmarks.forecast': (17,),
    'benchmarks.timeline': (18,),
    'benchmarks.open_page': (19,),
    'benchmarks.limited': (20,),
    'benchmarks.notifications': (21,),
    'benchmarks.bare': (3, 4, 5, 6, 8),
}
# What one module may take before it counts as dead; a busy machine alone is no reason.
LIMIT_SECONDS = {'short': 600, 'bench': 1_800, 'long': 6 * 3600}
_CHECKOUT = pathlib.Path(__file__).resolve().parents[1]


def main(arguments=None, modules=None):
    """Run what the command line asks for; returns the exit code.

    1 where a firm figure misses its goal or a module dies.
    """
    modules = MODULES if modules is None else modules
    parser = report.parser('Measure Climate; the rows are those of the page on performance.')
    parser.add_argument('--rows', type=_numbers, metavar='1,2', help='only these rows')
    asked = parser.parse_args(arguments)
    rows = asked.rows or {row for mine in modules.values() for row in mine}
    figures, died = run(
        [name for name, mine in modules.items() if rows.intersection(mine)], asked.form)
    figures = [figure for figure in figures if figure.row in rows]
    if asked.json:
        report.save(asked.json, asked.form, figures, died)
    print(f'\n{report.table(figures)}')
    for name, why in died.items():
        print(f'{name} died: {why}')
    missed = report.missed(figures)
    for figure in missed:
        print(f'{figure.what}: {figure.value:g} {figure.unit}, '
              f'at {"least" if figure.more else "most"} {figure.goal:g}')
    return 1 if missed or died else 0


def _numbers(text):
    return {int(word) for word in text.split(',')}


def run(names, form):
    """Run modules; returns (all their Figures, {name of one that died: why})."""
    figures, died = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path, began = pathlib.Path(folder) / f'{name}.json', time.monotonic()
            print(f'\n== {name}', flush=True)
            code = _run(name, form, path)
            print(f'== {name}: {time.monotonic() - began:.0f} s', flush=True)
            found, unfinished = report.load(path) if path.exists() else ([], True)
            figures += found
            # The exit code is 1 too where a firm figure misses, and then the module is well.
            if unfinished or code not in (0, 1):
                died[name] = (f'It took longer than {LIMIT_SECONDS[form]} s.' if code is None
                              else f'Its exit code is {code}.')
    return figures, died


def _run(name, form, path):
    """Run one module to its end; returns its exit code, or None where it took too long."""
    process = subprocess.Popen(
        [sys.executable, '-m', name, '--form', form, '--json', str(path)], cwd=_CHECKOUT,
        stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(LIMIT_SECONDS[form])
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end(process)


def _end(process):
    """End what is left of a module and of the processes that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
