# SPDX-License-Identifier: Apache-2.0
"""The unified limits of Keystone, as limits of projects.

The values of a project are cached. If Keystone does not answer, the last known values apply for a
while, because a short outage must not stop all requests. Values that are not known any more are
never taken as "without limit".
"""
import dataclasses
import decimal

from oslo_log import log

from climate import errors
from climate.domain.limits import rules

LOG = log.getLogger(__name__)

#: {name of the resource in Keystone: the measure of its limit}.
MEASURES = {
    'climate_open_leases': rules.Measure.OPEN_LEASES,
    'climate_waiting_leases': rules.Measure.WAITING_LEASES,
    'climate_held_offers': rules.Measure.HELD_OFFERS,
    'climate_resources': rules.Measure.RESOURCES,
}
_PREFIX = 'climate_'
# The pause between two calls while Keystone does not answer.
_SILENT_SECONDS = 10
# The number of cached projects from which expired values are deleted.
_MANY = 10_000


@dataclasses.dataclass(frozen=True)
class KnownLimits:
    """The limits of a project as Keystone last returned them.

    :ivar read_at: when they were read, by the monotonic clock of the manager.
    :ivar good_until: when they are read again.
    """

    limits: tuple[rules.Limit, ...]
    read_at: float
    good_until: float


def of_project(core, project_id):
    """Return the Limits of a project in Keystone; none unless [limits] unified_limits is set.

    Do not call it in a transaction, because it may call Keystone.

    :raises LimitsUnknown: Keystone does not answer, and no recent values are known.
    """
    options = core.conf.limits
    if not options.unified_limits:
        return ()
    now, known = core.monotonic(), core.unified_limits.get(project_id)
    if known is not None and now < known.good_until:
        return known.limits
    try:
        values = core.cloud.as_service().keystone.project_limits(project_id)
    except errors.CloudError as error:
        if known is None or now - known.read_at > options.unified_limits_stale_seconds:
            raise errors.LimitsUnknown(reason=error.message,
                                       retry_after=_SILENT_SECONDS) from error
        LOG.warning('Project %s: its last known unified limits apply: %s', project_id,
                    error.message)
        core.unified_limits[project_id] = dataclasses.replace(
            known, good_until=now + _SILENT_SECONDS)
        return known.limits
    limits = _limits(project_id, values)
    if len(core.unified_limits) >= _MANY:
        core.unified_limits.clear()
    core.unified_limits[project_id] = KnownLimits(
        limits, now, now + options.unified_limits_seconds)
    return limits


def _limits(project_id, values):
    """Return the Limits of {name of the resource: maximum}; a negative maximum is no limit."""
    unknown = sorted(name for name in values if name.startswith(_PREFIX) and name not in MEASURES)
    if unknown:
        LOG.warning('Keystone has limits on Climate that Climate does not know: %s. It knows %s.',
                    ', '.join(unknown), ', '.join(MEASURES))
    return tuple(
        rules.Limit(name=name, measure=measure, projects=frozenset([project_id]),
                    most=decimal.Decimal(values[name]))
        for name, measure in MEASURES.items() if values.get(name, -1) >= 0)
