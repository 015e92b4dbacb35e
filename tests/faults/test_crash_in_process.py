# SPDX-License-Identifier: Apache-2.0
"""A crash before and after every call of the cloud and every commit, in this process."""
import crashes
import pytest
import stories
from stories import picture
from support import builders
from support import crashing


def _play(place, story, ready, crash_at):
    """The picture in the end, and whether the process died on the way."""
    place.begin(*ready)
    place.points.begin(crash_at)
    died = False
    try:
        crashes.act(story, place.manager())
    except crashing.Crash:
        died = True
        place.clock.advance(builders.minutes(1))
        crashes.act(story, place.manager())
    place.points.begin(0)
    return picture.take(place.manager()), died


@pytest.mark.proof
@pytest.mark.parametrize('name', stories.STORIES)
def test_after_a_crash_between_any_two_steps_all_is_as_without_it(
        name, place, tmp_path, migrated, record_property):
    story = stories.STORIES[name]
    ready = crashes.arrange(place, story, tmp_path / 'ready', migrated)
    expected, _ = _play(place, story, ready, 0)
    assert expected['drift'] == []
    crash_at, died = 0, True
    wrong = {}
    while died:
        crash_at += 1
        found, died = _play(place, story, ready, crash_at)
        if found != expected:
            wrong[crash_at] = {key: (expected[key], value) for key, value in found.items()
                               if value != expected[key]}
    record_property('crash points', crash_at - 1)
    print(f'{name}: {crash_at - 1} crash points')
    assert not wrong, f'{name}: {len(wrong)} of {crash_at - 1} points go wrong: {wrong}'
    assert crash_at > 5
