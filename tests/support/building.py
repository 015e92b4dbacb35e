# SPDX-License-Identifier: Apache-2.0
"""Build packages in separate processes."""
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words, cwd, **more):
    """Run a program; return its output.

    :raises AssertionError: its exit status is not 0; the message has its output.
    """
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True,
                          check=False, **more)
    assert done.returncode == 0, f'{words}: {done.stdout[-2000:]}{done.stderr[-4000:]}'
    return done.stdout


def built(source, folder, form):
    """Build the sdist or the wheel of a tree in an empty folder; return its path.

    :param form: --sdist or --wheel.
    """
    with tempfile.TemporaryDirectory() as copy:
        # A build leaves files in its tree.
        shutil.copytree(source, copy, symlinks=True, dirs_exist_ok=True)
        run(sys.executable, '-m', 'build', form, '--outdir', folder, copy, cwd=folder)
    [found] = folder.iterdir()
    return found


def of_commit(commit, folder):
    """Install the wheel of an earlier commit in a new environment; return its Python.

    Its dependencies are those of this environment.

    :param folder: an empty folder.
    """
    source, wheels, venv = (folder / name for name in ('source', 'wheels', 'venv'))
    for made in (source, wheels):
        made.mkdir()
    run('git', 'archive', '--output', folder / 'source.tar', commit, cwd=ROOT)
    shutil.unpack_archive(folder / 'source.tar', source, filter='data')
    run(sys.executable, '-m', 'venv', '--without-pip', venv, cwd=folder)
    run(sys.executable, '-m', 'pip', '--python', venv / 'bin' / 'python', 'install', '--quiet',
        '--no-deps', built(source, wheels, '--wheel'), cwd=folder)
    python = venv / 'bin' / 'python'
    own = run(python, '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))',
              cwd=folder).strip()
    # Python does not read the .pth files of this folder, such as that of an editable install.
    pathlib.Path(own, 'dependencies.pth').write_text(sysconfig.get_path('purelib') + '\n')
    return python


def has_commit(commit):
    """Return whether git and the history of this tree are there, up to a commit."""
    return shutil.which('git') is not None and subprocess.run(
        ['git', 'cat-file', '-e', f'{commit}^{{commit}}'], cwd=ROOT, check=False,
        stderr=subprocess.DEVNULL).returncode == 0
