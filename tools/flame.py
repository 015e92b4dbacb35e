# SPDX-License-Identifier: Apache-2.0
"""Draws where a program spends its time, as a flame: an SVG of its stacks, by py-spy.

    python -m tools.flame OUT.svg [--below FUNCTION] -- -m benchmarks.lease --form short

A box stands for a function of Climate, or for a whole package of others, and is as wide as the
time that was spent in it; what it called lies on it. py-spy is in the extra "bench".
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.sax import saxutils

WIDTH, HEIGHT, LETTER, MARGIN = 1200, 17, 6.2, 8
OURS, DATABASE = 'climate', 'the database'
_COLOURS = {OURS: '#f4a259', DATABASE: '#5b8e7d', 'sqlalchemy': '#8cb4d9'}
_OTHERS = '#d6d2c4'
# Where SQLAlchemy waits for what is no Python: the statement itself.
_ASKS = re.compile(r'do_(execute|executemany|commit|rollback|begin)|fetch\w*')
_FRAME = re.compile(r'(?P<function>.+) \((?P<file>[^()]+?)(:\d+)?\)')


def main(arguments=None):
    """Run a program below py-spy and draw it; returns the exit code."""
    parser = argparse.ArgumentParser(prog='python -m tools.flame', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', type=pathlib.Path, metavar='OUT.svg')
    parser.add_argument('--below', metavar='FUNCTION', help='only what this function does')
    parser.add_argument('--least', type=float, default=0.4, metavar='PERCENT',
                        help='leave out what took less of the time (default: %(default)s)')
    parser.add_argument('--rate', type=int, default=100, help='looks a second')
    parser.add_argument('program', nargs='+', help='what python is to run')
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        raw = pathlib.Path(folder) / 'stacks'
        done = subprocess.run(
            [pathlib.Path(sys.executable).with_name('py-spy'), 'record', '--function',
             '--nonblocking', '--rate', str(asked.rate), '--format', 'raw', '--output', raw, '--',
             sys.executable, *asked.program], check=False)
        if done.returncode or not raw.exists():
            return done.returncode or 1
        stacks = read(raw.read_text().splitlines())
    stacks = below(stacks, asked.below) if asked.below else stacks
    asked.out.write_text(drawn(stacks, asked.least / 100, ' '.join(asked.program)))
    return 0


def read(lines):
    """{stack, outermost first: how often it was seen}, of py-spy's raw format."""
    found = collections.Counter()
    for line in lines:
        words, _, count = line.rpartition(' ')
        # What py-spy read of a frame while it changed may be anything, also half a line.
        if count.isdecimal():
            found[shortened(words.split(';'))] += int(count)
    return found


def shortened(frames):
    """The names of a stack's boxes: each function of Climate, each run of another package once."""
    names = []
    for frame in frames:
        name = _name(frame)
        if name is not None and names[-1:] != [name]:
            names.append(name)
    return tuple(names)


def _name(frame):
    found = _FRAME.fullmatch(frame)
    if found is None:
        return None
    function, parts = found['function'], pathlib.PurePath(found['file']).with_suffix('').parts
    if parts[0] in (OURS, 'benchmarks', 'builders'):
        return f'{".".join(parts)}.{function}'.removeprefix(f'{OURS}.')
    if parts[0] == 'sqlalchemy' and _ASKS.fullmatch(function):
        return DATABASE
    return parts[0]


def below(stacks, function):
    """The stacks from that function on; those without it are left out."""
    found = collections.Counter()
    for stack, count in stacks.items():
        for place, name in enumerate(stack):
            if name.endswith(f'.{function}'):
                found[stack[place:]] += count
                break
    return found


def boxes(stacks, least):
    """(depth, left, width, name) of each box, by shares of the whole; none is narrower."""
    whole = sum(stacks.values())
    waiting = [((), 0.0, stacks)]
    while waiting:
        path, left, inside = waiting.pop()
        of_name = collections.defaultdict(collections.Counter)
        for stack, count in inside.items():
            if len(stack) > len(path):
                of_name[stack[len(path)]][stack] += count
        for name, some in sorted(of_name.items()):
            width = sum(some.values()) / whole
            if width >= least:
                yield len(path), left, width, name
                waiting.append(((*path, name), left, some))
            left += width


def drawn(stacks, least, title):
    """The SVG."""
    found = list(boxes(stacks, least))
    height = (max((depth for depth, *_ in found), default=0) + 3) * HEIGHT
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             'font-family="monospace" font-size="11">',
             f'<text x="{MARGIN}" y="{HEIGHT - 5}">{saxutils.escape(title)}: '
             f'{sum(stacks.values())} looks</text>']
    for depth, left, width, name in found:
        x, y = MARGIN + left * (WIDTH - 2 * MARGIN), height - (depth + 1.5) * HEIGHT
        wide = width * (WIDTH - 2 * MARGIN)
        lines.append(
            f'<g><title>{saxutils.escape(name)}: {width:.1%}</title>'
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{HEIGHT - 1}" '
            f'fill="{_colour(name)}" stroke="white" stroke-width="0.5"/>{_label(name, x, y, wide)}'
            '</g>')
    return '\n'.join([*lines, '</svg>']) + '\n'


def _colour(name):
    return _COLOURS.get(OURS if '.' in name else name, _OTHERS)


def _label(name, x, y, wide):
    """Return the end of the name that fits into the box."""
    room = int((wide - 4) / LETTER)
    if room < 3:
        return ''
    said = name if len(name) <= room else f'…{name[1 - room:]}'
    return f'<text x="{x + 2:.1f}" y="{y + HEIGHT - 5:.1f}">{saxutils.escape(said)}</text>'


if __name__ == '__main__':
    sys.exit(main())
