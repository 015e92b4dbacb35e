# SPDX-License-Identifier: Apache-2.0
"""Asks PyPI, with pip-audit, whether weaknesses are known of the versions in constraints.txt.

    python3 -m tools.weaknesses                  fails where PyPI cannot be asked
    python3 -m tools.weaknesses --if-reachable   says so instead, and is content: for "make check"
"""
import argparse
import json
import pathlib
import subprocess
import sys
import urllib.request

from pip._internal.models import index

# Where pip-audit asks, too, whatever index packages come from.
PYPI = index.PyPI.pypi_url
_PINNED = pathlib.Path(__file__).resolve().parents[1] / 'constraints.txt'
_TIMEOUT_SECONDS = 15


def main(argv=None):
    """The exit status: 0 where no weakness is known, or nobody can be asked and that is allowed."""
    parser = argparse.ArgumentParser(prog='python3 -m tools.weaknesses', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--if-reachable', action='store_true')
    parser.add_argument('--venv', default='.venv-audit', help='where pip-audit is installed')
    options = parser.parse_args(argv)
    missing = silence(PYPI, first_of(_PINNED.read_text())) or _install(options.venv)
    if missing:
        print(f'NOT AUDITED: whether weaknesses are known of the versions in {_PINNED.name} could '
              f'not be asked: {missing}', file=sys.stderr)
        return 0 if options.if_reachable else 1
    # --strict: a package that PyPI knows nothing about is a failure.
    return subprocess.run([
        f'{options.venv}/bin/pip-audit', '--strict', '--no-deps', '--disable-pip',
        '--requirement', _PINNED]).returncode


def first_of(pinned):
    """(name, version) of the first package in the text of a file of constraints."""
    return next(line for line in pinned.splitlines() if '==' in line).split(';')[0].split('==')


def silence(pypi, package):
    """Return why PyPI reports no weaknesses of a package, in words; None if it does.

    A mirror of the packages may answer there as well, but does not have what is known of each.
    """
    name, version = package
    address = f'{pypi}/{name.strip()}/{version.strip()}/json'
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT_SECONDS) as answer:
            found = json.load(answer)
    except (OSError, ValueError) as error:
        return f'{address}: {error}'
    if not isinstance(found, dict) or 'vulnerabilities' not in found:
        return f'{address} says nothing of weaknesses'
    return None


def _install(venv):
    """Return why pip-audit cannot be installed into a virtualenv, in words; None if it can."""
    for command in ([sys.executable, '-m', 'venv', venv],
                    [f'{venv}/bin/python', '-m', 'pip', 'install', '--quiet',
                     '--disable-pip-version-check', '--constraint', _PINNED, 'pip-audit']):
        if subprocess.run(command).returncode:
            return 'pip-audit could not be installed'
    return None


if __name__ == '__main__':
    sys.exit(main())
