# SPDX-License-Identifier: Apache-2.0
"""An audit with repairs between a crash and what comes after it does no harm, and finds all."""
import crashes
import pytest
import stories
from support import builders
from support import crashing

from climate.domain import audit as audits
from climate.manager.audit import comparison
from climate.manager.audit import repairs


def _audited(place, manager, servers):
    """Return the findings that an audit with repairs leaves; it touches no server."""
    auditor = comparison.Auditor(manager.core)
    repairs.Repairs(manager.core, unknown=True).make(auditor.compare())
    assert place.cloud.servers() == servers
    return auditor.compare()


def _play(place, story, ready, crash_at):
    """Return the problems after the process died at that point; None if it did not die."""
    place.begin(*ready)
    place.points.begin(crash_at)
    wrong = None
    try:
        crashes.act(story, place.manager())
    except crashing.Crash:
        place.points.begin(0)
        left = _audited(place, place.manager(), place.cloud.servers())
        wrong = [each for each in left if each.repair not in (None, audits.COMPLETE)]
        place.clock.advance(builders.minutes(1))
        manager = place.manager()
        crashes.act(story, manager)
        wrong += _audited(place, manager, place.cloud.servers())
    return wrong


@pytest.mark.proof
@pytest.mark.parametrize('name', [
    name for name, story in stories.STORIES.items() if not story.dies_at_commits])
def test_a_repair_after_a_crash_leaves_nothing_that_the_next_manager_does_not_heal(
        name, place, tmp_path, migrated, record_property):
    story = stories.STORIES[name]
    ready = crashes.arrange(place, story, tmp_path / 'ready', migrated)
    crash_at, wrong, found = 0, {}, []
    while found is not None:
        crash_at += 1
        found = _play(place, story, ready, crash_at)
        if found:
            wrong[crash_at] = found
    record_property('crash points', crash_at - 1)
    assert not wrong
    assert crash_at > 5
