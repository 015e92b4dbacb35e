# SPDX-License-Identifier: Apache-2.0
"""Run the steps of CI, or of the check before a release, and print a table of their results.

``python3 -m tools.steps ci`` is what .ci/run calls, ``python3 -m tools.steps release`` is
``make release-check``. The output of each step is in ``build/steps``, and the end of it is printed
when the step is over. The exit status is 1 if a step failed. ``--resume`` goes on where an earlier
run on the same commit stopped.
"""
import argparse
import contextlib
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: A step is marked in the table if it takes longer than the first multiple of its budget, and is
#: stopped after the second.
MARKED, STOPPED = 1.5, 4
#: CI is refused after 90 minutes without any word; this leaves time to say what was slow.
_CI_LIMIT_SECONDS = 4800
#: The lines of output that are printed of a step that passed, and of one that failed.
_TAIL, _TAIL_OF_FAILURE = 6, 200
#: How long a step that is stopped has to print what failed in it.
_SECONDS_TO_REPORT = 60
_CLOSING = re.compile(r'\d+ passed|\d+ failed|\d+ error')


@dataclasses.dataclass(frozen=True)
class Step:
    """One command of CI.

    :ivar targets: the targets of the Makefile, and variables for them.
    :ivar budget_seconds: how long it takes on a quiet machine with two processors.
    :ivar beside: steps that run one after another, with a lower priority, while this one runs.
    """

    name: str
    targets: str
    budget_seconds: int
    beside: tuple['Step', ...] = ()


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a step.

    :ivar closing: the last line in which a test runner counts its tests; '' if there is none.
    :ivar seed: the seed of its random searches; None: it has seeds of its own.
    """

    step: Step
    passed: bool
    seconds: float
    closing: str
    seed: int | None = None

    @property
    def is_slow(self):
        return self.seconds > MARKED * self.step.budget_seconds


# What measures time, or kills by the clock, has the machine for itself. The tests of the cloud wait
# most of the time, so other steps run meanwhile.
CI = (
    Step('check', 'check', 240),
    Step('test', 'test', 300),
    Step('demo', 'demo', 130),
    Step('benchmarks', 'bench-short', 280),
    Step('faults', 'faults-short', 330),
    Step('cloud', 'cloud cloud-test-short', 900, beside=(
        Step('databases', 'db-test-short', 500),
        Step('eventlet', 'eventlet-test-short', 200),
        Step('tox', 'tox ENVIRONMENTS=docs', 120))),
    Step('console', 'console-test', 220),
)
RELEASE = (
    Step('check', 'check', 240),
    Step('test', 'test', 300),
    Step('proofs', 'proofs', 840),
    Step('demo', 'demo', 130),
    Step('faults', 'faults', 1400),
    Step('benchmarks', 'bench', 720),
    Step('clouds', 'cloud-test', 5400, beside=(
        Step('databases', 'db-test ROUNDS=20', 3600),
        Step('eventlet', 'eventlet-test', 900),
        Step('tox', 'tox', 600))),
    Step('consumers', 'consumers-test', 1200),
    Step('cloud benchmark', 'cloud-bench', 900),
    Step('console', 'console-test', 220),
    Step('packages', 'package-test', 600),
    Step('cloudkitty', 'cloudkitty-test', 200),
    Step('horizon', 'horizon-test', 300),
    Step('ironic', 'ironic-test', 300),
)


class Run:
    """The steps of one list, in order, and their results.

    :param seed: of the random searches; None: each step has its own.
    :param limit_seconds: what is running then is stopped; None: there is no such limit.
    :param root: the folder of the Makefile.
    :param commit: the commit that is checked. A step that passed on it in an earlier run is not
        run again; None: every step is run.
    """

    def __init__(self, steps, seed=None, limit_seconds=None, root=ROOT, *, commit=None):
        self.results = []
        self._steps, self._seed, self._root, self._commit = steps, seed, root, commit
        self._limit = math.inf if limit_seconds is None else limit_seconds
        self._began = time.monotonic()
        # The process groups that run, and whether no other one may be started.
        self._groups, self._stopping = set(), False

    def run(self):
        """Run every step, whatever became of the ones before; return whether all passed.

        An interrupt ends everything that was started, also the steps beside another.
        """
        try:
            self._run_all()
        except BaseException:
            self._stopping = True
            for group in tuple(self._groups):
                _end_group(group)
            raise
        return all(result.passed for result in self.results)

    def _run_all(self):
        for step in self._steps:
            self._say(f'== {", ".join([step.name, *(other.name for other in step.beside)])}')
            others = threading.Thread(target=self._run_each, args=(step.beside,))
            others.start()
            self._run_each([step], ())
            others.join()

    def _run_each(self, steps, before=('nice',)):
        for step in steps:
            if earlier := self._passed_earlier(step):
                self.results.append(earlier)
            elif not self._stopping:
                self._run_one(step, before)

    def _file(self, step, suffix):
        return self._root / 'build' / 'steps' / f'{step.name.replace(" ", "-")}{suffix}'

    def _passed_earlier(self, step):
        """Return the Result of a step that passed on the same commit; None if there is none."""
        file = self._file(step, '.json')
        if self._commit is None or not file.exists():
            return None
        kept = json.loads(file.read_text())
        return Result(step, **kept['result']) if kept['commit'] == self._commit else None

    def _keep(self, result):
        """Write down that a step passed, for `_passed_earlier`."""
        self._file(result.step, '.json').write_text(json.dumps({
            'commit': commit(self._root),
            'result': {'passed': True, 'seconds': result.seconds, 'closing': result.closing,
                       'seed': result.seed}}))

    def _run_one(self, step, before):
        log = self._file(step, '.log')
        log.parent.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        limit = min(step.budget_seconds * STOPPED, self._limit - (began - self._began))
        code = self._run_command(
            [*before, 'make', '--no-print-directory', '-C', str(self._root), *step.targets.split(),
             *([f'SEED={self._seed}'] if self._seed else [])], log, max(1, limit))
        lines = log.read_text(errors='replace').splitlines()
        closing = [line for line in lines if _CLOSING.search(line)]
        result = Result(step, code == 0, time.monotonic() - began, closing[-1] if closing else '',
                        self._seed)
        self.results.append(result)
        if result.passed:
            self._keep(result)
        self._say('\n'.join([f'== {step.name}: {_word(result)} in {result.seconds:.0f} s',
                             *lines[-(_TAIL if result.passed else _TAIL_OF_FAILURE):]]))

    def _run_command(self, words, log, limit_seconds):
        """Run a command with its output in a file; return its exit status, or -1 if it is too slow.

        It gets a process group of its own, so that all that it started ends with it.
        """
        with log.open('wb') as output, subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True) as process:
            self._groups.add(process.pid)
            try:
                return process.wait(limit_seconds)
            except subprocess.TimeoutExpired:
                # After an interrupt, pytest still prints which tests failed.
                _end_group(process.pid, signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_SECONDS_TO_REPORT)
                _end_group(process.pid)
                output.write(f'\nStopped after {limit_seconds:.0f} s.\n'.encode())
                return -1
            except BaseException:
                _end_group(process.pid)
                raise
            finally:
                self._groups.discard(process.pid)

    def _say(self, text):
        print(f'[{time.monotonic() - self._began:6.0f} s] {text}', flush=True)

    def table(self):
        """Return the table of the results, as text."""
        rows = [('step', 'result', 'seconds', 'budget', 'seed', '')]
        rows += [(result.step.name, _word(result), f'{result.seconds:.0f}',
                  f'{result.step.budget_seconds}', f'{result.seed or "fixed"}',
                  ('TOO SLOW  ' if result.is_slow else '') + result.closing)
                 for result in self.results]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = []
        for *cells, closing in rows:
            padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
            lines.append('  '.join([*padded, closing]).rstrip())
        return '\n'.join([*lines, f'all steps: {time.monotonic() - self._began:.0f} s'])


def commit(root):
    """Return the id of the commit of a clone; None if the folder is no clone or has changes."""
    def git(*words):
        return subprocess.run(['git', '-C', str(root), *words], capture_output=True, text=True,
                              check=False)
    changes = git('status', '--porcelain', '--untracked-files=no')
    return None if changes.returncode or changes.stdout else git('rev-parse', 'HEAD').stdout.strip()


def _word(result):
    return 'passed' if result.passed else 'FAILED'


def _end_group(group, number=signal.SIGTERM):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def main(arguments=None):
    """Run the steps that the command line names; return the exit status."""
    parser = argparse.ArgumentParser(prog='tools.steps', description=__doc__.splitlines()[0])
    parser.add_argument('list', choices=('ci', 'release'))
    parser.add_argument('--only', default='', metavar='STEP,STEP', help='run these steps only')
    parser.add_argument('--seed', type=int, help='of the random searches; default: drawn (release)')
    parser.add_argument('--resume', action='store_true',
                        help='skip the steps that passed in an earlier run on the same commit')
    options = parser.parse_args(arguments)
    steps = {'ci': CI, 'release': RELEASE}[options.list]
    names = {step.name for step in steps}
    only = {name for name in options.only.split(',') if name}
    if only - names:
        parser.error(f'There is no step {", ".join(sorted(only - names))}. '
                     f'The steps are {", ".join(step.name for step in steps)}.')
    seed = options.seed
    if seed is None and options.list == 'release':
        seed = random.randrange(1, 10 ** 6)
    # In the background a shell lets its programs ignore interrupts, and these their own programs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    checked = commit(ROOT) if options.resume else None
    if options.resume and checked is None:
        parser.error('--resume needs a git clone without changes. Run without it, or commit.')
    run = Run([step for step in steps if not only or step.name in only], seed,
              _CI_LIMIT_SECONDS if options.list == 'ci' else None, commit=checked)
    try:
        return 0 if run.run() else 1
    finally:
        print(run.table(), flush=True)


if __name__ == '__main__':
    sys.exit(main())
