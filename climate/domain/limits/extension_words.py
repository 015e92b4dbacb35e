# SPDX-License-Identifier: Apache-2.0
"""Rules of extensions in words."""
from climate import moments
from climate.domain import texts
from climate.domain.limits import rules


def description(rule: rules.Extension) -> str:
    """Return a rule in words, such as "in the last 2d of a lease, by at most 7d"."""
    parts = []
    if rule.within is not None:
        parts.append(f'in the last {moments.span(rule.within)} of a lease')
    if rule.within_percent is not None:
        parts.append(f'in the last {rule.within_percent:f} % of a lease')
    if rule.most is not None:
        parts.append(f'by at most {moments.span(rule.most)}')
    if rule.times is not None:
        parts.append(f'at most {texts.counted(rule.times, "time", "times")}')
    if rule.total is not None:
        first = 'its start' if rule.total_from is rules.TotalFrom.START else 'now'
        parts.append(f'until at most {moments.span(rule.total)} after {first}')
    if rule.resource_type is not None:
        parts.append(f'of the type {rule.resource_type}')
    if rule.pool is not None:
        parts.append(f'of {texts.plural(rule.pool)}')
    return ', '.join(parts)
