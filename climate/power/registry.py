# SPDX-License-Identifier: Apache-2.0
"""The registry of installed power drivers."""
import stevedore

from climate.power import base

NAMESPACE = 'climate.power'


def load(conf, cloud):
    """Return the Driver that [energy] driver names; None if it names none.

    :raises Unusable: it is not installed, does not load, or its options are wrong.
    """
    wanted = conf.energy.driver
    if not wanted:
        return None
    failed = {}
    found = {each.name: each.plugin for each in stevedore.ExtensionManager(
        NAMESPACE, on_load_failure_callback=lambda _manager, entry_point, error:
        failed.update({entry_point.name: error}))}
    if wanted in failed:
        raise base.Unusable(f'{NAMESPACE}: {wanted} does not load: {failed[wanted]}. Its library '
                            f'may be missing: pip install "openstack-climate[{wanted}]".')
    if wanted not in found:
        raise base.Unusable(f'[energy] driver: "{wanted}" is not installed; installed are: '
                            f'{", ".join(sorted({*found, *failed})) or "none"}.')
    return found[wanted](conf, cloud)
