# SPDX-License-Identifier: Apache-2.0
"""An audit with repairs between a crash and what comes after it does no harm, and finds all."""
import shutil

import builders
import pytest
import stories
import test_crash_in_process as crashes

from climate.domain import audit as audits
from climate.manager import audit
from climate.manager import repairs


def _audited(place, manager, servers):
    """What an audit with repairs leaves; it touches no server."""
    auditor = audit.Auditor(manager.core)
    repairs.Repairs(manager.core).make(auditor.look())
    assert place.cloud.servers() == servers
    return auditor.look()


def _play(conf, story, ready, folder, crash_at):
    """What is wrong in the end, where the process died at that point; None where it did not."""
    source, begins = ready
    shutil.copytree(source, folder)
    place = crashes.Place(conf, folder)
    place.clock.now = begins
    place.points.begin(crash_at)
    wrong = None
    try:
        crashes.act(story, place.manager())
    except crashes.Crash:
        place.points.begin(0)
        left = _audited(place, place.manager(), place.cloud.servers())
        wrong = [each for each in left if each.repair not in (None, audits.COMPLETE)]
        place.clock.advance(builders.minutes(1))
        manager = place.manager()
        crashes.act(story, manager)
        wrong += _audited(place, manager, place.cloud.servers())
    place.close()
    shutil.rmtree(folder)
    return wrong


@pytest.mark.parametrize('name', stories.STORIES)
def test_a_repair_after_a_crash_leaves_nothing_that_the_next_manager_does_not_heal(
        name, conf, tmp_path, migrated, record_property):
    story = stories.STORIES[name]
    conf.set_override('delete_seconds', 1, group='simulated')
    ready = crashes.arrange(conf, story, tmp_path / 'ready', migrated)
    crash_at, wrong, found = 0, {}, []
    while found is not None:
        crash_at += 1
        found = _play(conf, story, ready, tmp_path / str(crash_at), crash_at)
        if found:
            wrong[crash_at] = found
    record_property('crash points', crash_at - 1)
    assert not wrong
    assert crash_at > 5
