# SPDX-License-Identifier: Apache-2.0
"""The files of Nova that "climate-status upgrade check" reads."""
import os

from oslo_config import cfg

OPTIONS = (
    cfg.MultiStrOpt('nova-config-file', default=[], metavar='PATH',
                    help='With "upgrade check": the nova.conf of nova-scheduler, or a copy of it; '
                         'give it once for each file. Default: those of [nova] '
                         'scheduler_config_files that can be read.'),
)


def files(conf):
    """Return the files of Nova to read: those that were named, else the usual ones that are there.

    :param conf: has OPTIONS.
    """
    return conf.nova_config_file or [
        path for path in conf.nova.scheduler_config_files if os.access(path, os.R_OK)]
