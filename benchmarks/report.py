# SPDX-License-Identifier: Apache-2.0
"""The results of a benchmark: a figure, the table of them in a terminal, and their JSON."""
import argparse
import dataclasses
import json
import math
import os
import pathlib
import platform
import statistics

FORMS = ('short', 'bench', 'long')
_HEADER = ('row', 'what', 'figure', 'p99', 'goal', 'ratio', 'met', 'runs')
_WIDTHS = (3, 62, 15, 14, 17, 5, 7, 5)
_MET = {True: 'yes', False: 'NO', None: ''}


@dataclasses.dataclass(frozen=True)
class Figure:
    """One thing that was measured, and what it is to be.

    :ivar row: of the table in doc/source/contributor/performance.rst; 0 for what has none there.
    :ivar what: what was done, with which sizes, on which database.
    :ivar value: the median where there are several runs.
    :ivar unit: 'ms', 'statements', 'leases/s', 'MB', 's' or 'x'.
    :ivar more: True: the value is to be at least the goal; else at most.
    :ivar firm: CI fails where it misses its goal: the number of statements, a ratio of growth;
        never a time.
    """

    row: int
    what: str
    value: float
    unit: str
    goal: float | None = None
    more: bool = False
    p99: float | None = None
    p99_goal: float | None = None
    runs: int = 1
    firm: bool = False

    @property
    def met(self):
        """True if the goal is met; None if there is no goal."""
        if self.goal is None and self.p99_goal is None:
            return None
        near = self.goal is None or bool(
            self.value >= self.goal if self.more else self.value <= self.goal)
        return near and (self.p99_goal is None or (
            self.p99 is not None and self.p99 <= self.p99_goal))

    @property
    def ratio(self):
        """The value as a part of the goal; None without a goal, or with a goal of 0."""
        return self.value / self.goal if self.goal else None


def timed(row, what, taken, **more):
    """Return the Figure of runs from the milliseconds of each: their median and their p99."""
    return Figure(row, what, statistics.median(taken), 'ms', p99=p99(taken), runs=len(taken),
                  **more)


def seconds(row, what, taken, goal):
    """Return the Figure of a few runs from the seconds of each: their median and the longest."""
    return Figure(row, what, statistics.median(taken), 's', goal=goal, p99=max(taken),
                  runs=len(taken))


def p99(values):
    """The value that 99 of 100 do not exceed; of fewer than 100 values, the greatest."""
    return sorted(values)[math.ceil(len(values) * 0.99) - 1]


def table(figures):
    """The lines of the table, by row; what has no row of the page stands first."""
    return '\n'.join([header(), *map(line, sorted(figures, key=lambda figure: figure.row))])


def header():
    """The first line of the table."""
    return _columns(_HEADER)


def line(figure):
    """One line of the table."""
    goal = ratio = ''
    if figure.goal is not None:
        goal = f'{"≥" if figure.more else "≤"} {_number(figure.goal)} {figure.unit}'
    if figure.ratio is not None:
        ratio = f'{figure.ratio:.2f}'
    tail = '' if figure.p99 is None else _number(figure.p99)
    if figure.p99_goal is not None:
        tail += f' (≤ {_number(figure.p99_goal)})'
    return _columns((str(figure.row or '-'), figure.what,
                     f'{_number(figure.value)} {figure.unit}', tail, goal, ratio,
                     _MET[figure.met] + (' firm' if figure.firm and figure.met is False else ''),
                     str(figure.runs)))


def _columns(words):
    return '  '.join(word.ljust(width) if name == 'what' else word.rjust(width)
                     for name, word, width in zip(_HEADER, words, _WIDTHS, strict=True)).rstrip()


def _number(value):
    """Three digits, or all those of a larger one."""
    if value == int(value) or abs(value) >= 100:
        return f'{value:,.0f}'
    return f'{value:.2f}' if abs(value) < 10 else f'{value:.1f}'


def missed(figures):
    """The firm Figures that miss their goal."""
    return [figure for figure in figures if figure.firm and figure.met is False]


def save(path, form, figures, died=None):
    """Write the figures as JSON, in a folder that is made when missing.

    :param died: the names of the modules that came to no end, with the reason.
    """
    document = {
        'form': form, 'died': died or {},
        'machine': {'cores': os.cpu_count(), 'python': platform.python_version(),
                    'system': platform.system()},
        'figures': [{**dataclasses.asdict(figure), 'ratio': figure.ratio, 'met': figure.met}
                    for figure in figures]}
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + '\n')


def load(path):
    """(the Figures that `save` wrote, the modules that died)."""
    document = json.loads(pathlib.Path(path).read_text())
    names = [field.name for field in dataclasses.fields(Figure)]
    return ([Figure(**{name: found[name] for name in names}) for found in document['figures']],
            document['died'])


def parser(about):
    """An argument parser that knows --form and --json."""
    made = argparse.ArgumentParser(description=about)
    made.add_argument('--form', choices=FORMS, default='bench',
                      help='short: seconds, as in CI; bench: minutes; long: all of it')
    made.add_argument('--json', metavar='FILE', help='write the figures there too')
    return made


def main(figures, arguments=None):
    """Run one module from the command line; returns the exit code, 1 where a firm figure misses.

    :param figures: its generator of Figures, which is given the form.
    """
    asked = parser(None).parse_args(arguments)
    found = []
    print(header(), flush=True)
    for figure in figures(asked.form):
        found.append(figure)
        print(line(figure), flush=True)
        if asked.json:
            save(asked.json, asked.form, found, {'': 'It came to no end.'})
    if asked.json:
        save(asked.json, asked.form, found)
    return 1 if missed(found) else 0
