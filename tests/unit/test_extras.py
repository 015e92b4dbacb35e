# SPDX-License-Identifier: Apache-2.0
"""The base installation has the command and the pieces in Nova, and says what it lacks."""
import ast
import configparser
from importlib import metadata
import pathlib
import subprocess
import sys

from packaging import requirements
from packaging import utils
import pytest

from climate import version

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / 'tests'
BASE_PARTS = ('client', 'nova')
PROGRAMS = ('climate-api', 'climate-console', 'climate-db', 'climate-manager',
            'climate-standalone', 'climate-status')

# Imports the modules of its command line while the packages of its first argument are missing.
IMPORT = '''
import importlib
import importlib.abc
import sys


class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in MISSING:
            raise ModuleNotFoundError(f'No module named {name}', name=name)


MISSING = set(sys.argv[1].split(','))
sys.meta_path.insert(0, Missing())
from support import nova_standin
with nova_standin.scheduler():
    for name in sys.argv[2:]:
        importlib.import_module(name)
from climate.client import shell
sys.exit(shell.main(['--version']))
'''


def _declared():
    """The requirements of setup.cfg: (of the base, of the extra "service")."""
    file = configparser.ConfigParser()
    file.read(ROOT / 'setup.cfg')
    return (file['options']['install_requires'].split(),
            file['options.extras_require']['service'].split())


def _names(lines):
    return {utils.canonicalize_name(requirements.Requirement(line).name) for line in lines}


def _with_what_they_need(names):
    """The names of distributions with all that they require, as far as it is installed."""
    found, left = set(), set(names)
    while left:
        name = left.pop()
        found.add(name)
        try:
            needed = map(requirements.Requirement, metadata.requires(name) or ())
        except metadata.PackageNotFoundError:
            continue
        left |= {utils.canonicalize_name(each.name) for each in needed
                 if each.marker is None or each.marker.evaluate({'extra': ''})} - found
    return found


def _modules(part):
    return ['.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')
            for path in sorted((ROOT / 'climate' / part).rglob('*.py'))]


def _imported(part):
    """The top-level packages that a part imports, but for the standard library and its own."""
    for path in sorted((ROOT / 'climate' / part).rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text())):
            names = ([each.name for each in node.names] if isinstance(node, ast.Import)
                     else [node.module] if isinstance(node, ast.ImportFrom) else [])
            yield from {name.partition('.')[0] for name in names} - sys.stdlib_module_names - {
                'climate'}


def test_the_base_requires_what_the_client_and_the_pieces_in_nova_import_and_no_more():
    owners = metadata.packages_distributions()
    used = {utils.canonicalize_name(name) for part in BASE_PARTS for package in _imported(part)
            if package != 'nova' for name in owners[package]}
    base, _ = _declared()
    assert used == _names(base)


def test_requirements_of_the_base_are_not_repeated_by_the_service():
    base, service = _declared()
    assert _names(base) & _names(service) == set()


def test_client_and_pieces_in_nova_run_without_the_packages_of_the_service():
    base, service = _declared()
    missing = _with_what_they_need(_names(service)) - _with_what_they_need(_names(base))
    packages = {package for package, owners in metadata.packages_distributions().items()
                if {utils.canonicalize_name(each) for each in owners} <= missing}
    assert packages >= {'alembic', 'numpy', 'pecan', 'sqlalchemy', 'oslo_db', 'oslo_messaging'}
    modules = [name for part in BASE_PARTS for name in _modules(part)]
    assert len(modules) > 30
    done = subprocess.run([sys.executable, '-c', IMPORT, ','.join(packages), *modules],
                          capture_output=True, text=True, check=False, timeout=60, cwd=ROOT,
                          env={'PYTHONPATH': f'{ROOT}:{TESTS}'})
    assert (done.returncode, done.stderr) == (0, '')
    assert version.text() in done.stdout


@pytest.mark.parametrize('program', PROGRAMS)
def test_a_program_of_the_service_says_which_extra_is_missing(program, tmp_path):
    installed = metadata.distribution(version.DISTRIBUTION)
    [point] = installed.entry_points.select(group='console_scripts', name=program)
    about = tmp_path / 'openstack_climate-1.0.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text(installed.read_text('METADATA') or installed.read_text(
        'PKG-INFO'))
    # As the script of pip does; -S leaves out all packages that are installed.
    script = tmp_path / program
    script.write_text(f'import sys\nsys.path[:0] = [{str(ROOT)!r}, {str(tmp_path)!r}]\n'
                      f'from {point.module} import {point.attr}\nsys.exit({point.attr}())\n')
    done = subprocess.run([sys.executable, '-S', str(script)], capture_output=True, text=True,
                          check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith(f'{program}: this installation of Climate has the command and ')
    assert 'missing are: Flask, Jinja2, SQLAlchemy, WebOb, alembic, ' in done.stderr
    assert "pip install 'openstack-climate[service]'" in done.stderr
    assert 'Traceback' not in done.stderr


def test_each_program_but_the_command_needs_the_service():
    points = metadata.distribution(version.DISTRIBUTION).entry_points
    assert {point.name for point in points.select(group='console_scripts')} == {
        'climate', *PROGRAMS}
    assert all(point.module.startswith('climate.cmd.')
               for point in points.select(group='console_scripts') if point.name != 'climate')
