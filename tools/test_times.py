# SPDX-License-Identifier: Apache-2.0
"""Prints the tests, lines and seconds of each directory, and the slowest tests, of a junit file.

    .venv/bin/python -m pytest -n 2 --junitxml=build/tests.xml
    .venv/bin/python -m tools.test_times build/tests.xml

The seconds of a test include its set-up and its teardown. With several workers their sum is
greater than the time of the whole run.
"""
import argparse
import collections
import pathlib
from xml.etree import ElementTree


def main(arguments=None):
    """Print the table of a junit file; returns the exit code."""
    parser = argparse.ArgumentParser(prog='python -m tools.test_times', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file', type=pathlib.Path, metavar='FILE.xml')
    parser.add_argument('--slowest', type=int, default=20, metavar='COUNT',
                        help='number of tests to list (default: %(default)s)')
    parser.add_argument('--root', type=pathlib.Path, default='.',
                        help='the folder that the tests were run in (default: %(default)s)')
    options = parser.parse_args(arguments)
    try:
        times = read(options.file, options.root)
    except (OSError, ElementTree.ParseError) as error:
        parser.error(f'{options.file} is not a junit file: {error}. Write one with "pytest '
                     '--junitxml=FILE.xml".')
    print('\n'.join([*table(times, options.root), '', *slowest(times, options.slowest)]))
    return 0


def read(path, root):
    """Return [(file, name of the test, seconds)] of a junit file, in its order.

    :param root: the folder that the files are in; their names are relative to it.
    """
    return [(_file(case.get('classname'), root), case.get('name'), float(case.get('time')))
            for case in ElementTree.parse(path).iter('testcase')]


def _file(dotted, root):
    """Return the path of a module; junit writes a class of tests as a part of it."""
    module = pathlib.PurePath(*dotted.split('.'))
    return next((path for path in (each.with_suffix('.py') for each in (module, module.parent))
                 if (root / path).is_file()), module.with_suffix('.py'))


def table(times, root):
    """Return the lines of the table of directories, the slowest first, and of their sum."""
    tests, seconds, files = collections.Counter(), collections.Counter(), {}
    for file, _name, duration in times:
        tests[file.parent] += 1
        seconds[file.parent] += duration
        files.setdefault(file.parent, set()).add(file)
    length = {folder: sum(_length(root / file) for file in found)
              for folder, found in files.items()}
    rows = [(folder, tests[folder], length[folder], spent)
            for folder, spent in seconds.most_common()]
    rows.append(('all', tests.total(), sum(length.values()), seconds.total()))
    return [f'{"tests":>6} {"lines":>7} {"seconds":>8}  directory',
            *(f'{count:6} {lines:7} {spent:8.1f}  {folder}'
              for folder, count, lines, spent in rows)]


def _length(path):
    return len(path.read_text(encoding='utf-8').splitlines()) if path.is_file() else 0


def slowest(times, count):
    """Return the lines of the slowest tests."""
    return [f'{spent:8.2f}  {file}::{name}'
            for file, name, spent in sorted(times, key=lambda row: row[2], reverse=True)[:count]]


if __name__ == '__main__':
    raise SystemExit(main())
