# SPDX-License-Identifier: Apache-2.0
"""Fetch the third-party scripts of the console into its package.

    python3 -m tools.vendor           fetch them again, with npm
    python3 -m tools.vendor --check   is each file what vendor.json says?

vendor.json has for each the package, its version, its licence, the files that are taken from it,
and their SHA-256. So nobody needs npm to build or to run Climate.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent / 'climate/console/static/vendor'
_LIST = FOLDER / 'vendor.json'


def main(arguments):
    """Fetch, or check, what vendor.json lists; return the exit code."""
    listed = json.loads(_LIST.read_text())
    if arguments == ['--check']:
        wrong = changed(listed)
        print('\n'.join(f'{name} is not what vendor.json says' for name in wrong), end='')
        return 1 if wrong else 0
    for package in listed:
        _fetch(package)
    _LIST.write_text(json.dumps(listed, indent=2) + '\n')
    return 0


def changed(listed):
    """Return the names of the files that are missing or have another checksum."""
    return [file['name'] for package in listed for file in package['files']
            if not (FOLDER / file['name']).is_file()
            or _checksum((FOLDER / file['name']).read_bytes()) != file['sha256']]


def _fetch(package):
    """Take the files of a package from the registry of npm, and write down their checksums."""
    with tempfile.TemporaryDirectory() as folder:
        named = f'{package["package"]}@{package["version"]}'
        subprocess.run(['npm', 'pack', '--silent', '--pack-destination', folder, named],
                       check=True, stdout=subprocess.DEVNULL)
        [archive] = pathlib.Path(folder).glob('*.tgz')
        with tarfile.open(archive) as found:
            for file in package['files']:
                content = found.extractfile(f'package/{file["from"]}').read()
                (FOLDER / file['name']).write_bytes(content)
                file['sha256'] = _checksum(content)


def _checksum(content):
    return hashlib.sha256(content).hexdigest()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
