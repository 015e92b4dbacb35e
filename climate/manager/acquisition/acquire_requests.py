# SPDX-License-Identifier: Apache-2.0
"""The field `acquire` of lease requests: its type, its limits, and its defaults."""
import datetime

from climate import errors
from climate import strategies
from climate.domain import acquire
from climate.domain import records

_WAYS_OUT = {
    acquire.IMMEDIATE: 'leave start out, or use "scheduled"',
    acquire.SCHEDULED: 'give a future start, or use "immediate"',
}


class AcquireRequests:
    """Checks the field `acquire` of requests, and adds the defaults of the options [acquire]."""

    def __init__(self, core):
        self._conf = core.conf.acquire

    def type_of(self, request, span, now):
        """Return the acquisition type of a LeaseRequest for a span; the default if it names none.

        :raises BadField: the type does not fit the start of the lease, or the request has a field
            of another type.
        """
        default = acquire.type_of(span.start, now)
        if request.acquire is None:
            return default
        _refuse_foreign_fields(request.acquire)
        requested = request.acquire.type
        if requested in _WAYS_OUT and requested != default:
            starts = 'now' if default == acquire.IMMEDIATE else 'later'
            raise errors.BadField(field='acquire.type', reason=(
                f'"{requested}" does not fit a lease that starts {starts}: '
                f'{_WAYS_OUT[requested]}.'))
        if requested in acquire.LASTING:
            self._refuse_other_span(request, span, now)
        return requested

    def acquisition(self, lease_id, request, now):
        """Return the Acquisition of a LeaseRequest of a lasting type, with every field filled in.

        :raises BadField: a field is below its minimum or above its ceiling; the error names it.
        """
        fields = {acquire.RETRIES: self._retries, acquire.BEST_EFFORT: self._best_effort,
                  acquire.WAIT: self._wait}[request.acquire.type](request.acquire, now)
        return records.Acquisition(
            lease_id=lease_id, type=request.acquire.type, notify_at=request.notify_at,
            duration_seconds=request.duration_seconds, attempts=1, created_at=now, **fields)

    def _retries(self, requested, now):
        conf = self._conf
        return {
            'retries': _within('retries', requested.retries, conf.retries, conf.retries_ceiling,
                               'retries_ceiling'),
            'retry_pause_seconds': _within(
                'retry_pause_seconds', requested.retry_pause_seconds, conf.retry_pause_seconds,
                conf.retry_pause_longest_seconds, 'retry_pause_longest_seconds'),
        }

    def _best_effort(self, requested, now):
        conf = self._conf
        seconds = _within('timeout_seconds', requested.timeout_seconds,
                          conf.best_effort_timeout_seconds, conf.best_effort_ceiling_seconds,
                          'best_effort_ceiling_seconds')
        strategy = conf.migration_strategy if requested.strategy is None else requested.strategy
        if requested.strategy is not None and strategy not in strategies.names():
            installed = ', '.join(strategies.names()) or 'none'
            raise errors.BadField(field='acquire.strategy', reason=(
                f'"{strategy[:80]}" is not installed; known are: {installed}.'))
        return {'timeout_seconds': seconds, 'strategy': strategy,
                'not_after': now + datetime.timedelta(seconds=seconds)}

    def _wait(self, requested, now):
        longest, not_after = self._conf.wait_longest_seconds, requested.not_after
        if not_after is not None:
            if not_after <= now:
                raise errors.BadField(field='acquire.not_after', reason=(
                    f'{not_after:%Y-%m-%d %H:%M:%S} lies in the past; it is '
                    f'{now:%Y-%m-%d %H:%M:%S} UTC now: give a later moment, or leave it out.'))
            latest = now + datetime.timedelta(seconds=longest)
            if longest and not_after > latest:
                raise errors.BadField(field='acquire.not_after', reason=(
                    f'{not_after:%Y-%m-%d %H:%M:%S} lies after {latest:%Y-%m-%d %H:%M:%S} '
                    'UTC, the latest moment that [acquire] wait_longest_seconds allows: give an '
                    'earlier one.'))
        return {'not_after': not_after, 'priority': requested.priority or 0}

    @staticmethod
    def _refuse_other_span(request, span, now):
        rule = f'a lease of the type "{request.acquire.type}" starts when it gets its resources'
        if request.start is not None and span.start > now:
            raise errors.BadField(field='start', reason=(
                f'{rule}: leave start out, or use "scheduled".'))
        if request.end is not None and request.duration_seconds is not None:
            raise errors.BadField(field='duration', reason=(
                f'{rule}: give either a fixed end, or a duration, which begins at that time.'))


def _within(name, value, default, ceiling, option):
    """Return the requested value, or else the default, at most the ceiling.

    :raises BadField: the requested value is above the ceiling, or below 1.
    """
    if value is None:
        return min(default, ceiling)
    if value < 1:
        raise errors.BadField(field=f'acquire.{name}', reason=(
            f'{value} is less than 1: give 1 or more, or leave it out.'))
    if value > ceiling:
        raise errors.BadField(field=f'acquire.{name}', reason=(
            f'{value} is above the ceiling of {ceiling} set by [acquire] {option}: give '
            f'{ceiling} or less, or leave it out.'))
    return value


def _refuse_foreign_fields(requested):
    own_fields = acquire.FIELDS[requested.type]
    for name in sorted(set().union(*acquire.FIELDS.values()) - set(own_fields)):
        if getattr(requested, name) is not None:
            rule = f'it has {" and ".join(own_fields)}' if own_fields else 'it has no fields'
            raise errors.BadField(field=f'acquire.{name}', reason=(
                f'this is no field of the type "{requested.type}": {rule}. Leave it out.'))
