# SPDX-License-Identifier: Apache-2.0
"""The unified limits of Keystone apply beside the limit book, also while Keystone is down."""
import pytest
from support import builders

from climate import errors
from climate.manager.limits import unified

hours, NOON = builders.hours, builders.NOON


@pytest.fixture
def limited(manager, conf):
    """A manager with unified limits, and a monotonic clock that the test moves."""
    conf.set_override('unified_limits', True, group='limits')
    manager.enrol(4)
    manager.cloud.set_unified_limit('climate_open_leases', 2)
    return manager


@pytest.fixture
def later(limited, monkeypatch):
    """Return a function that moves the monotonic clock of the manager by seconds."""
    moved = [0]
    real = limited.core.monotonic
    object.__setattr__(limited.core, 'monotonic', lambda: real() + moved[0])

    def move(seconds):
        moved[0] += seconds
    return move


def fail(manager, times=1000):
    manager.cloud.faults.fail('keystone.project_limits', times, errors.CloudUnreachable(
        service='Keystone', reason='no answer'))


def test_a_registered_limit_refuses_the_next_lease_of_a_project(limited):
    limited.book()
    limited.book()
    with pytest.raises(errors.LimitExceeded) as refused:
        limited.book()
    assert refused.value.status == 403
    assert 'climate_open_leases' in refused.value.message
    limited.create(builders.a_lease(), builders.a_member('other', 'other'))


def test_a_limit_of_a_project_replaces_the_registered_one(limited):
    limited.cloud.set_unified_limit('climate_open_leases', 0, 'demo')
    with pytest.raises(errors.LimitExceeded):
        limited.book()


@pytest.mark.parametrize('most', [-1, 3])
def test_a_limit_of_a_project_may_be_higher_or_absent(limited, most):
    limited.cloud.set_unified_limit('climate_open_leases', most, 'demo')
    for _ in range(3):
        limited.book()


def test_the_number_of_resources_at_one_moment_is_limited(limited):
    limited.cloud.set_unified_limit('climate_resources', 2)
    limited.book(builders.hosts(2))
    with pytest.raises(errors.LimitExceeded):
        limited.book(builders.hosts(1))
    limited.book(builders.hosts(2), start=NOON + hours(2), end=NOON + hours(3))


def test_a_dry_run_is_refused_too(limited):
    limited.cloud.set_unified_limit('climate_open_leases', 0)
    with pytest.raises(errors.LimitExceeded):
        limited.book(dry_run=True)


def test_unified_limits_are_off_by_default(manager):
    manager.enrol(1)
    manager.cloud.set_unified_limit('climate_open_leases', 0)
    manager.book()
    assert manager.core.unified_limits == {}


def test_a_name_that_climate_does_not_know_is_logged(limited, caplog):
    limited.cloud.set_unified_limit('climate_open_lease', 1)
    limited.book()
    assert 'climate_open_lease.' in caplog.text and 'climate_held_offers' in caplog.text


def test_values_are_read_again_after_a_while(limited, later):
    limited.book()
    limited.cloud.set_unified_limit('climate_open_leases', 1)
    limited.book()
    limited.cloud.set_unified_limit('climate_open_leases', 3)
    later(61)
    limited.book()


def test_the_last_known_values_apply_for_a_while_if_keystone_is_down(limited, later):
    limited.book()
    fail(limited)
    later(61)
    limited.book()
    with pytest.raises(errors.LimitExceeded):
        limited.book()
    later(3601)
    with pytest.raises(errors.LimitsUnknown) as refused:
        limited.book()
    assert refused.value.status == 503 and 'no answer' in refused.value.message


def test_a_project_without_known_values_is_refused_while_keystone_is_down(limited):
    fail(limited, 1000)
    with pytest.raises(errors.LimitsUnknown):
        limited.book()


def test_each_name_in_keystone_has_a_measure_of_the_limit_book():
    assert {measure.value for measure in unified.MEASURES.values()} == {
        name.removeprefix('climate_') for name in unified.MEASURES}
