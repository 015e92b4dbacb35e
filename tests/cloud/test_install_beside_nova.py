# SPDX-License-Identifier: Apache-2.0
"""Climate's pieces are installed into Nova's environment, which stays as its release made it."""
import json
import subprocess

from tools.cloud import install
from tools.cloud import settings

# Prints, as JSON, the names of a distribution with all that it requires and that is installed.
CLOSURE = '''
from importlib import metadata
import json
import re
import sys
from pip._vendor.packaging import requirements, utils
found, left = set(), {sys.argv[1]}
while left:
    name = left.pop()
    found.add(name)
    try:
        needed = [requirements.Requirement(each) for each in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        continue
    left |= {utils.canonicalize_name(each.name) for each in needed
             if each.marker is None or each.marker.evaluate({'extra': ''})} - found
print(json.dumps(sorted(found)))
'''


def _would_install(cloud, folder):
    """The names of the packages that pip would install with the base of Climate."""
    report = folder / 'report.json'
    subprocess.run([
        cloud.python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--dry-run',
        '--report', report, '--constraint', install.PINS, settings.CHECKOUT], check=True)
    return [each['metadata']['name'] for each in json.loads(report.read_text())['install']]


def test_the_base_changes_no_package_of_nova_s_environment(cloud, tmp_path):
    assert _would_install(cloud, tmp_path) == ['openstack-climate']


def test_the_base_requires_only_what_nova_requires_anyway(cloud):
    # The environment of this cloud has every other service, too: Nova's own requirements count.
    def needed(name, python):
        done = subprocess.run([python, '-c', CLOSURE, name], check=True, capture_output=True)
        return set(json.loads(done.stdout))
    of_nova = needed('nova', cloud.python)
    assert len(of_nova) > 50
    base = needed('openstack-climate', cloud.climate_venv / 'bin' / 'python')
    assert {each for each in base if each not in of_nova} == {'openstack-climate'}
