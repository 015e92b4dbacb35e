# SPDX-License-Identifier: Apache-2.0
"""The units that a server of a flavor takes are those that Nova asks Placement for."""
import pytest

from climate.plugins.compute import requirements


@pytest.mark.parametrize(('specs', 'expected'), [
    ({}, {'VCPU': 4}),
    ({'hw:cpu_policy': 'shared'}, {'VCPU': 4}),
    ({'hw:cpu_policy': 'dedicated'}, {'PCPU': 4}),
    ({'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'isolate'}, {'PCPU': 5}),
    ({'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'share'}, {'PCPU': 4}),
    # Nova refuses to boot it; it must not be counted as more than its CPUs.
    ({'hw:emulator_threads_policy': 'isolate'}, {'VCPU': 4}),
    ({'resources:VCPU': '2'}, {'VCPU': 2}),
    ({'resources:CUSTOM_GPU': '1'}, {'VCPU': 4, 'CUSTOM_GPU': 1})])
def test_the_units_of_a_server(specs, expected):
    flavor = {'id': '7', 'name': 'f', 'vcpus': 4, 'ram': 512, 'disk': 3, 'ephemeral': 2,
              'swap': 1500, 'extra_specs': specs}
    assert requirements.units(flavor) == {**expected, 'MEMORY_MB': 512, 'DISK_GB': 7}


@pytest.mark.parametrize(('more', 'words'), [
    ({}, '2 VCPUs, 512 MB of memory and 3 GB of disk'),
    ({'vcpus': 1}, '1 VCPU, 512 MB of memory and 3 GB of disk'),
    ({'ephemeral_gb': 40}, '2 VCPUs, 512 MB of memory, 3 GB of disk and 40 GB of ephemeral disk'),
    ({'extra_specs': {'hw:cpu_policy': 'dedicated'}},
     '2 VCPUs, 512 MB of memory, 3 GB of disk and hw:cpu_policy=dedicated'),
    ({'ephemeral_gb': 4, 'extra_specs': {f'resources:CUSTOM_{each}': '1' for each in 'DCBA'}},
     '2 VCPUs, 512 MB of memory, 3 GB of disk, 4 GB of ephemeral disk, resources:CUSTOM_A=1, '
     'resources:CUSTOM_B=1, resources:CUSTOM_C=1 and other extra specs')])
def test_a_description_names_everything_that_a_server_needs(more, words):
    request = {'vcpus': 2, 'memory_mb': 512, 'disk_gb': 3, **more}
    assert requirements.described(request) == words
