# SPDX-License-Identifier: Apache-2.0
"""Run the API of the cloud's Climate with other options and policies for a while."""
import contextlib

from tools.cloud import climate_service
from tools.cloud import processes

#: What members need whose programs list hosts and networks.
MEMBERS_LIST_HOSTS = ('climate:oshosts:get', 'climate:oshosts:get_allocations',
                      'climate:resources:segment:get')
_OPEN = 'rule:project_reader_or_admin'


@contextlib.contextmanager
def changed(cloud, options='', opened=(), folder=None):
    """Restart climate-api with more options; restart it without them in the end.

    :param options: text for climate.conf.
    :param opened: the names of policies that members get.
    :param folder: for the file of the policies.
    """
    if opened:
        path = folder / 'policy.yaml'
        path.write_text(''.join(f'"{name}": "{_OPEN}"\n' for name in opened))
        options += f'\n[oslo_policy]\npolicy_file = {path}\n'
    _restart(cloud, options)
    try:
        yield
    finally:
        _restart(cloud)


def _restart(cloud, more=''):
    processes.stop(cloud, 'climate-api')
    climate_service.write_conf(cloud)
    with climate_service.conf_file(cloud).open('a') as written:
        written.write(more)
    climate_service.start(cloud, 'climate-api')
    climate_service.wait_until_well(cloud, 'climate-api')
