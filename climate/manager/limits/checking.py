# SPDX-License-Identifier: Apache-2.0
"""The check of limits in the transaction of a booking, and without a lock for previews.

A check in a transaction comes after the resources are locked and before offers and leases are. It
locks the owners of the limits that apply, so that two requests at once cannot both use up what is
left. Then one statement of sums shows that the owner is far from all limits, or another one reads
what the owner holds. If no limit applies, no statement runs.
"""
import dataclasses

from climate import errors
from climate.db import limit_owners
from climate.db import resource_properties
from climate.domain import requirement
from climate.domain.limits import fitting
from climate.domain.limits import holdings as domain
from climate.domain.limits import limit_texts
from climate.domain.limits import measures
from climate.domain.limits import rules
from climate.domain.limits import usage
from climate.manager.limits import books
from climate.manager.limits import holdings
from climate.manager.limits import unified
from climate.manager.limits import upper_bounds


def applying(core, project_id, user_id, now):
    """Return the LimitChecks of the limits that apply to a user in a project.

    Call it before the transaction, because it may read the limit book and call Keystone.

    :raises LimitsUnknown: unified limits apply, and Keystone does not answer.
    """
    book = books.known(core, now)
    limits = () if book is None else book.limits_for(project_id, user_id)
    limits += unified.of_project(core, project_id)
    return LimitChecks(core, (project_id, user_id), limits, now)


class LimitChecks:
    """Refuses requests that would exceed a limit.

    :ivar limits: the Limits that apply to the owner.
    """

    def __init__(self, core, owner, limits, now):
        self._core = core
        self._owner = owner
        self._now = now
        self.limits = limits

    def refuse_excess(self, connection, subject):
        """Refuse a request that would exceed limits, and lock the owners of the limits.

        Call it in the transaction that books, before offers and leases are locked.

        :raises LimitExceeded: the error names each limit, and has the figures of all.
        """
        if self.limits:
            [error] = self._refusals(connection, [subject], locks=True)
            if error is not None:
                raise error

    def preview(self, subjects):
        """Return the LimitExceeded, or None, of each LimitSubject, without a lock.

        :param subjects: alternatives of one request.
        """
        if not self.limits or not subjects:
            return [None] * len(subjects)
        with self._core.database.reader() as connection:
            return self._refusals(connection, subjects, locks=False)

    def refuse_in_preview(self, subject):
        """Refuse the request of a LimitSubject if it would exceed limits, without a lock.

        :raises LimitExceeded: see `refuse_excess`.
        """
        [error] = self.preview([subject])
        if error is not None:
            raise error

    def needs_candidates(self, roles):
        """Return whether limits with criteria depend on the resources that a lease may get."""
        return any(limit.measure in rules.OF_ONE_LEASE and not limit.roles & roles
                   and requirement.names(limit.criteria) for limit in self.limits)

    def with_criteria(self, error):
        """Return the limits with criteria that a LimitExceeded names."""
        return [limit for limit in self.limits
                if limit.name in names_in(error) and limit.property_names]

    def usage(self):
        """Return the ``usage.LimitUse`` of each limit, in order, by one statement."""
        if not self.limits:
            return []
        with self._core.database.reader() as connection:
            rows = holdings.read(self._core, connection, self.limits, self._owner,
                                 (self._now, holdings.LAST), self._now)
        found = holdings.parsed(self._core, rows, self.limits)
        return [usage.of(limit, domain.Request(self._now, others=tuple(
            each for each in found.by_id.values() if each.is_of(limit.owner_of(*self._owner))),
            parts=found.parts)) for limit in self.limits]

    def _refusals(self, connection, subjects, locks):
        nothing = holdings.ReadHoldings({}, {}, ())
        is_new = all(subject.before_id is None for subject in subjects)
        others = [limit for limit in self.limits
                  if not (is_new and upper_bounds.depends_on_lease_alone(limit))]
        if not others:
            return [self._refusal(connection, subject, nothing) for subject in subjects]
        if locks:
            limit_owners.lock(connection, {
                limit.owner_of(*self._owner) for limit in others
                if limit.measure not in rules.OF_ONE_LEASE})
        if self._are_kept_surely(connection, others, subjects):
            own = [limit for limit in self.limits if limit not in others]
            return [self._refusal(connection, subjects[0], nothing, own)]
        found = holdings.parsed(self._core, self._read(connection, subjects), self.limits)
        return [self._refusal(connection, subject, found) for subject in subjects]

    def _are_kept_surely(self, connection, limits, subjects):
        """Return whether sums of what the owner holds prove that no limit is exceeded."""
        [subject, *more] = subjects
        return not more and upper_bounds.may_prove(limits, subject) and upper_bounds.prove(
            self._core, connection, limits, self._owner, subject, self._now)

    def _read(self, connection, subjects):
        moments = [self._now, *(moment for subject in subjects for moment in subject.moments)]
        return holdings.read(
            self._core, connection, self.limits, self._owner, (min(moments), max(moments)),
            self._now, {allocation.resource_id for subject in subjects
                        for allocation in subject.chosen},
            is_change=any(subject.before_id is not None for subject in subjects))

    def _refusal(self, connection, subject, found, limits=None):
        """Return the LimitExceeded of a LimitSubject, or None.

        :param limits: the Limits that are checked; None: all.
        """
        limits = self.limits if limits is None else limits
        before = found.by_id.get(subject.before_id)
        others = tuple(each for key, each in found.by_id.items() if key != subject.before_id)
        request = domain.Request(
            self._now, before, self._after(subject, before, found), others, found.parts,
            subject.candidates, subject.roles, subject.is_attempt)
        broken = measures.breaches(limits, request)
        if subject.needed and not broken:
            # A lease that is above a limit alone would wait for nothing.
            request = dataclasses.replace(request, before=None, others=(), after=(
                dataclasses.replace(subject.after, resources=subject.needed)))
            broken = measures.breaches(limits, request)
        if not broken:
            return None
        error = _error(broken, request, private_names(
            connection, [breach.limit for breach in broken]))
        error.refused = fitting.Refused(request, _added(request, subject))
        return error

    def _after(self, subject, before, found):
        if not found.facts and before is None:
            return subject.after
        kept = () if before is None else tuple(
            part for held in before.resources for part in subject.kept(held))
        return dataclasses.replace(subject.after, resources=kept + tuple(
            holdings.of_allocation(
                self._core, allocation, subject.types[allocation.reservation_id],
                found.facts[allocation.resource_id], self.limits)
            for allocation in subject.chosen))


def _added(request, subject):
    """Return the HeldResources of a Request that are those of ``subject.chosen``."""
    own = request.after.resources
    return own[len(own) - len(subject.chosen):] if len(own) >= len(subject.chosen) else ()


def names_in(error):
    """Return the set of the names of the limits that a LimitExceeded names."""
    return {figures['limit'] for figures in error.kwargs['limits']}


def private_names(connection, limits):
    """Return the names of the properties in the criteria of limits that members may not see."""
    return resource_properties.private_names(
        connection, frozenset().union(*(limit.property_names for limit in limits)))


def _error(broken, request, private):
    """Return the LimitExceeded of Breaches.

    :param private: the names of properties that members may not see.
    """
    fits = [fitting.fit(breach, request) for breach in broken]
    figures = [limit_texts.details(breach, request, fit)
               for breach, fit in zip(broken, fits, strict=True)]
    message, owner_message = (' '.join(
        limit_texts.sentence(breach, request, fit, hidden)
        for breach, fit in zip(broken, fits, strict=True)) for hidden in (frozenset(), private))
    never = any(fitting.alone(breach, request) for breach in broken)
    return errors.LimitExceeded(message, owner_message=owner_message, **figures[0],
                                limits=figures, never=never)
