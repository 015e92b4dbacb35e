# SPDX-License-Identifier: Apache-2.0
"""Leased servers at the end of their lease, kept or deleted by their users, on the real cloud."""
import pytest
import scene as scenes

NOTIFICATIONS = """
[notifications]
notification_format = versioned
[oslo_messaging_notifications]
driver = messagingv2
"""


def test_servers_that_live_on_leave_the_pool_and_their_owner_has_them_back(
        boot, scene, demo, cloud, open_host):
    # One after the other: the command line takes seconds.
    suspended, shelved, moved = (
        boot(start=scenes.in_seconds(50), duration='10m', on_end=on_end)
        for on_end in ('suspend', 'shelve', 'migrate'))
    pool = set(cloud.compute_hosts) - {open_host}
    for each in (suspended, shelved, moved):
        each.settled('SHELVED_OFFLOADED')
    for each in (suspended, shelved, moved):
        assert each.settled('ACTIVE', 60).compute_host in pool
        each.lease('active')
    for each in (suspended, shelved, moved):
        each.end()
    assert suspended.settled('SUSPENDED').compute_host == open_host
    assert moved.settled('ACTIVE').compute_host == open_host
    shelved.settled('SHELVED_OFFLOADED')
    assert [each.marks() for each in (suspended, shelved, moved)] == [{}, {}, {}]
    demo.compute.unshelve_server(shelved.id)
    assert shelved.settled('ACTIVE').compute_host == open_host


def test_servers_that_nova_would_neither_image_nor_suspend_come_to_their_end(
        boot, admin, demo, open_host, forget_images):
    rescued, failed, locked = (boot(duration='10m', on_end=on_end)
                               for on_end in ('snapshot', 'snapshot', 'suspend'))
    for each in (rescued, failed, locked):
        forget_images(each)
        each.lease('active')
    demo.compute.rescue_server(rescued.id)
    rescued.settled('RESCUE')
    admin.compute.reset_server_state(failed.id, 'error')
    demo.compute.lock_server(locked.id)
    for each in (rescued, failed, locked):
        each.end()
    locked.settled('SUSPENDED')
    for each in (rescued, failed):
        each.active_image(demo.current_project_id)
        each.gone(15)


def test_a_lease_of_a_server_that_is_deleted_before_its_start_ends_early(boot, open_host):
    leased = boot(start=scenes.in_seconds(600), duration='10m')
    leased.settled('SHELVED_OFFLOADED')
    leased.scene.remove(leased.id)
    assert leased.lease('terminated', 40)['reservations'][0]['status'] == 'deleted'


@pytest.fixture
def notifications(cloud, tmp_path):
    """Nova tells Climate what happens to servers."""
    path = tmp_path / 'extra.conf'
    path.write_text(NOTIFICATIONS)
    scenes.run(cloud, scenes.PYTHON, '-m', 'tools.cloud', 'restart', 'nova',
               CLOUD_NOVA_EXTRA=str(path))
    yield
    scenes.tool(cloud, 'restart', 'nova')


def test_with_notifications_a_lease_ends_as_soon_as_its_server_is_deleted(
        boot, scene, open_host, notifications):
    leased = [boot(duration='10m') for _ in range(3)]
    for each in leased:
        each.lease('active')
    for each in leased:
        scene.remove(each.id)
        # Of three times, the periodic look could be this early once.
        each.lease('terminated', 6)
