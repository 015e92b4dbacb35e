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
