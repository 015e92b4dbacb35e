# SPDX-License-Identifier: Apache-2.0
"""What a server of one of Nova's flavors takes of its host, in the classes of Placement."""
import math

_MB = 1024
_RESOURCE = 'resources:'


def of(flavor):
    """{class: units}, as Nova asks Placement for them; None where the flavor is not whole.

    :param flavor: Nova's object of the flavor that the server has, or is to be resized to.
    """
    names = ('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb', 'swap')
    if not flavor or not all(flavor.obj_attr_is_set(name) for name in names):
        return None
    specs = (flavor.extra_specs if flavor.obj_attr_is_set('extra_specs') else None) or {}
    processor = 'PCPU' if specs.get('hw:cpu_policy') == 'dedicated' else 'VCPU'
    found = {
        processor: flavor.vcpus, 'MEMORY_MB': flavor.memory_mb,
        'DISK_GB': flavor.root_gb + flavor.ephemeral_gb + math.ceil(flavor.swap / _MB)}
    return found | {key.removeprefix(_RESOURCE): int(text) for key, text in specs.items()
                    if key.startswith(_RESOURCE) and text.isdecimal()}
