# SPDX-License-Identifier: Apache-2.0
"""Random steps of users, managers, time and faults, and invariants after each of them.

Steps are made in rounds of several runs, each round with a seed of its own. When a round fails,
hypothesis makes it as short as it can, and the failure names the seed that repeats it at once.

CLIMATE_MODEL_STEPS   how many steps at least, on all databases together (default: 20000)
CLIMATE_MODEL_SEED    the seed of the first round (default: another each time)
"""
import logging
import os
import random
import textwrap
import time
import uuid

import hypothesis
from hypothesis import stateful
import model_points
import model_power
import model_rules
import model_weather
import model_world
import pytest
from support import builders

from climate.manager.energy import power_saving
from tools.databases import mariadb
from tools.databases import postgresql

pytestmark = pytest.mark.faults

_STEPS = int(os.environ.get('CLIMATE_MODEL_STEPS', 20000))
_SEED = int(os.environ.get('CLIMATE_MODEL_SEED') or random.randrange(10 ** 9))
# What part of the steps is made where; the seeds of one part never reach those of the next.
_PARTS = (('sqlite', 0.2), ('sqlite', 0.1), ('postgresql', 0.1), ('mariadb', 0.1),
          ('sqlite', 0.1), ('sqlite', 0.1), ('sqlite', 0.1), ('sqlite', 0.1), ('sqlite', 0.05),
          ('sqlite', 0.05))
_APART = 10 ** 6
# With ten runs or more hypothesis would begin with short ones.
_SETTINGS = hypothesis.settings(
    max_examples=9, stateful_step_count=60, deadline=None, database=None, print_blob=False,
    phases=(hypothesis.Phase.generate,),
    suppress_health_check=list(hypothesis.HealthCheck))


class Model(model_weather.Weather):
    """All steps together."""


class Enforced(Model):
    """All steps of a project that has limits, and whose leases an enforcement service allows."""

    enforced = True


_ABOUT_ALL = frozenset({
    'a_call_of_the_cloud_fails', 'a_manager_does_what_it_claimed', 'a_manager_stands_still',
    'a_manager_works', 'a_manager_works_for_minutes', 'an_answer_of_the_cloud_is_lost',
    'change_how_much', 'change_the_dates', 'delete', 'meanwhile_something_else_happens',
    'the_next_event_comes_due', 'the_next_to_come_there_dies',
})
# {part: the only steps that it makes}: about servers that need images and about what is in their
# way; about all that is no host; about leases that are idle; about what leases cost; about hosts
# that fail, sleep, or have maintenance; about what one member can take from others or leave; about
# limits and what the enforcement service charges.
_ONLY = {
    1: _ABOUT_ALL | {
        'a_cell_does_not_answer', 'a_server_comes_into_another_status', 'boot_for_a_lease',
        'images_are_made_again', 'lease_hosts_for_servers_that_need_images',
        'leased_hosts_are_shared', 'the_images_of_a_server_fail'},
    4: _ABOUT_ALL | {
        'a_port_is_put_into_a_leased_network', 'a_user_deletes_what_it_has',
        'a_user_empties_or_unmarks_a_leased_network', 'a_user_makes_something_without_a_lease',
        'a_users_router_is_connected_to_a_leased_network', 'administrators_give_segments_back',
        'an_administrator_takes_a_segment', 'an_audit_with_repairs', 'ask_once_more_for_a_lease',
        'boot_an_ordinary_server', 'lease_something_else', 'lease_things_that_belong_together',
        'lease_what_a_user_has', 'somebody_removes_objects_of_a_lease',
        'the_user_is_deleted_from_keystone', 'wait_for_something_else'},
    5: _ABOUT_ALL | {
        'a_cell_does_not_answer', 'a_lease_is_called_idle', 'a_manager_dies',
        'a_server_is_deleted_by_its_user', 'an_administrator_exempts_a_lease',
        'an_audit_with_repairs', 'boot_for_a_lease', 'lease_hosts', 'lease_room',
        'lease_room_of_a_flavor', 'leased_hosts_are_shared'},
    6: _ABOUT_ALL | {
        'a_lease_is_called_idle', 'a_manager_bills', 'a_manager_closes_days', 'a_manager_dies',
        'a_month_is_billed_before_the_next_price_book', 'a_transaction_is_broken_off',
        'an_administrator_adds_a_price_book',
        'have_hosts_cleared', 'lease_hosts', 'lease_room', 'lease_something_else',
        'time_passes', 'wait_for_a_lease'},
    7: _ABOUT_ALL | {
        'a_bmc_fails_or_is_mended', 'a_daemon_looks_after_hosts_once', 'a_host_fails_or_comes_back',
        'a_maintenance_is_deleted', 'a_maintenance_is_planned', 'a_manager_dies',
        'an_administrator_disables_a_host', 'an_administrator_enables_a_service',
        'an_administrator_switches_a_host', 'an_operator_takes_a_host_out_of_order',
        'an_owner_swaps_a_host', 'boot_for_a_lease', 'daemons_look_after_hosts', 'lease_hosts',
        'lease_room', 'lease_something_else', 'somebody_switches_a_host_by_hand',
        'the_bmc_of_the_storage_fails_or_is_mended', 'time_passes'},
    8: _ABOUT_ALL | {
        'a_daemon_looks_after_hosts_once', 'a_lease_is_called_idle', 'a_manager_bills',
        'a_manager_dies', 'a_manager_lets_go_of_offers', 'a_member_comes_swaps_and_goes',
        'a_periodic_task_meets_a_bad_item',
        'an_administrator_adds_a_price_book', 'an_owner_swaps_a_host', 'ask_for_too_much',
        'have_something_held', 'lease_hosts', 'lease_room', 'lease_something_else',
        'somebody_removes_objects_of_a_lease', 'time_passes', 'wait_for_a_lease'},
    9: _ABOUT_ALL | {
        'a_manager_dies', 'a_manager_lets_go_of_offers', 'a_manager_reports_to_the_service',
        'a_transaction_is_broken_off', 'ask_once_more_for_a_lease', 'have_something_held',
        'lease_hosts', 'take_an_offer', 'the_service_is_silent_or_answers', 'time_passes',
        'wait_for_a_lease'},
}
_ENFORCED = 9


@pytest.fixture
def points():
    return model_points.Points()


@pytest.fixture
def database(part, tmp_path, migrated, points):
    """Run a part of the model, with points at which something happens."""
    name, _ = _PARTS[part]
    if name == 'sqlite':
        found = model_points.copy_of(migrated, tmp_path, points)
    else:
        url = {'postgresql': postgresql, 'mariadb': mariadb}[name].url()
        found = model_points.Database(url, points)
        builders.clean(found)
    yield found
    found.dispose()


@pytest.fixture
def complaints():
    found = model_world.Complaints()
    logging.getLogger('climate').addHandler(found)
    yield found
    logging.getLogger('climate').removeHandler(found)


@pytest.mark.parametrize('part', range(len(_PARTS)), ids=[
    f'{name}-{number}' for number, (name, _) in enumerate(_PARTS)])
def test_whatever_happens_no_allocation_is_lost_or_given_twice(
        part, conf, database, points, complaints, monkeypatch, figures):
    model_world.configure(conf)
    # Nobody else is there who could be done meanwhile.
    monkeypatch.setattr(time, 'sleep', lambda seconds: None)
    monkeypatch.setattr(power_saving.futures, 'ThreadPoolExecutor', model_power.InTurn)

    def begin():
        monkeypatch.setattr(uuid, 'uuid4', model_world.Ids())
        model = Enforced if part == _ENFORCED else Model
        if part in _ONLY:
            model = model_rules.only(model, _ONLY[part])
        return model(conf, database, points, complaints)

    Model.forget()
    began, seed = time.monotonic(), _SEED + part * _APART
    while Model.steps.total() < _STEPS * _PARTS[part][1]:
        print(f'The same again: CLIMATE_MODEL_SEED={seed - part * _APART} CLIMATE_MODEL_STEPS=1, '
              f'part {part}')
        stateful.run_state_machine_as_test(hypothesis.seed(seed)(begin), settings=_SETTINGS)
        seed += 1
    figures(_told(_PARTS[part][0], time.monotonic() - began))


def _told(name, seconds):
    lines = [f'{name}: {Model.steps.total()} steps in {Model.tally["runs judged"]} runs, '
             f'{seconds:.0f} s, CLIMATE_MODEL_SEED={_SEED}']
    for title, counted in (('steps', Model.steps), ('beside', Model.tally)):
        text = ', '.join(f'{word} {count}' for word, count in counted.most_common())
        lines.append(textwrap.fill(f'{title}: {text}', width=100, initial_indent='  ',
                                   subsequent_indent='    '))
    return '\n'.join(lines)
