# SPDX-License-Identifier: Apache-2.0
"""Run the API of the cloud's Climate with other options and policies for a while."""
import contextlib

from tools.cloud import climate_service

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
    climate_service.restart(cloud, 'climate-api', options)
    try:
        yield
    finally:
        climate_service.restart(cloud, 'climate-api')
