# SPDX-License-Identifier: Apache-2.0
"""The units that a server of a flavor takes are those that Nova asks Placement for."""
import pytest

from climate import errors
from climate.plugins.compute import requirements


def _flavor(specs):
    return {'id': '7', 'name': 'f', 'vcpus': 4, 'ram': 512, 'disk': 3, 'ephemeral': 2,
            'swap': 1500, 'extra_specs': specs}


@pytest.mark.parametrize(('specs', 'expected'), [
    ({}, {'VCPU': 4}),
    ({'hw:cpu_policy': 'shared'}, {'VCPU': 4}),
    ({'hw:cpu_policy': 'dedicated'}, {'PCPU': 4}),
    ({'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'isolate'}, {'PCPU': 5}),
    ({'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'share'}, {'PCPU': 4}),
    # Nova refuses to boot it; it must not be counted as more than its CPUs.
    ({'hw:emulator_threads_policy': 'isolate'}, {'VCPU': 4}),
    ({'resources:VCPU': '2'}, {'VCPU': 2}),
    ({'hw:mem_encryption': 'True'}, {'VCPU': 4, 'MEM_ENCRYPTION_CONTEXT': 1}),
    ({'hw:mem_encryption': 'yes', 'resources:MEM_ENCRYPTION_CONTEXT': '1'},
     {'VCPU': 4, 'MEM_ENCRYPTION_CONTEXT': 1}),
    ({'resources:MEM_ENCRYPTION_CONTEXT': '1'}, {'VCPU': 4, 'MEM_ENCRYPTION_CONTEXT': 1}),
    ({'hw:mem_encryption': 'false'}, {'VCPU': 4}),
    ({'hw:pmem': '6GB, small,6GB'}, {'VCPU': 4, 'CUSTOM_PMEM_NAMESPACE_6GB': 2,
                                     'CUSTOM_PMEM_NAMESPACE_SMALL': 1}),
    # The devices of a reservation of an older release; a new one is refused.
    ({'pci_passthrough:alias': 'gpu:2'}, {'VCPU': 4}),
    ({'resources:CUSTOM_GPU': '1'}, {'VCPU': 4, 'CUSTOM_GPU': 1})])
def test_the_units_of_a_server(specs, expected):
    assert requirements.units(_flavor(specs)) == {**expected, 'MEMORY_MB': 512, 'DISK_GB': 7}


@pytest.mark.parametrize(('specs', 'counted'), [
    ({'pci_passthrough:alias': 'gpu:2'}, {'resources:CUSTOM_GPU': '2'}),
    ({'pci_passthrough:alias': 'gpu:2, nic:1'}, {'resources:CUSTOM_GPU': '2',
                                                 'resources:CUSTOM_NIC': '1'}),
    ({'pci_passthrough:alias': 'gpu:1', 'hw:cpu_policy': 'dedicated'}, {'resources:PGPU': '1'}),
    ({'pci_passthrough:alias': 'gpu'}, {'resources:CUSTOM_GPU': '1'}),
    ({'accel:device_profile': 'fpga'}, {'resources:CUSTOM_FPGA': '1'}),
    ({'accel:device_profile': 'fpga', 'pci_passthrough:alias': 'gpu:1'},
     {'resources:CUSTOM_FPGA': '1', 'resources:VGPU': '1'})])
def test_a_flavor_with_devices_is_leased_only_if_a_resource_class_counts_all_of_them(
        specs, counted):
    requirements.refuse_uncountable(_flavor({**specs, **counted}))
    for key, text in counted.items():
        with pytest.raises(errors.BadField) as caught:
            requirements.refuse_uncountable(
                _flavor({**specs, **counted, key: str(int(text) - 1)}), 'flavor_parameter')
        assert caught.value.message.startswith('flavor_parameter: flavor "7" has devices')
        assert 'resources:CUSTOM_…' in caught.value.message


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
