# SPDX-License-Identifier: Apache-2.0
"""The rules of this cloud about idle leases, from its configuration."""
import datetime

from climate import errors
from climate.conf import idle as options
from climate.domain import idle


class Unusable(errors.ConfigurationError):
    """The options of [idle] contradict each other; the message names them."""


def check(conf):
    """Raise Unusable if the samples are not kept for as long as leases are watched.

    :raises Unusable: they are not.
    """
    if conf.idle.keep_days * 24 < conf.idle.idle_hours:
        raise Unusable(f'[idle] keep_days: {conf.idle.keep_days} days are shorter than idle_hours, '
                       f'{conf.idle.idle_hours} hours. Keep the samples longer.')


def of(conf):
    """Return the ``domain.idle.Rules``."""
    return idle.Rules(conf.idle.idle_percent, datetime.timedelta(hours=conf.idle.idle_hours),
                      datetime.timedelta(hours=conf.idle.idle_grace_hours))


def is_exempt(conf, lease):
    """Return whether a lease is never called idle."""
    return lease.idle_exempt or lease.project_id in conf.idle.exempt_projects


def takes_back(conf):
    """Return whether idle leases are shrunk or ended."""
    return conf.idle.action != options.NONE


def ends(conf):
    """Return whether idle leases are ended, not shrunk."""
    return conf.idle.action == options.END
