# SPDX-License-Identifier: Apache-2.0
"""The end of each run: faults stop, time passes beyond all ends, and the result is checked."""
import contextlib
import datetime

import model_bounds as bounds
import model_lifecycles
import model_records
import model_truths as truths
import model_types
import model_world
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import due_events
from climate.domain import lifecycle
from climate.manager.audit import comparison
from climate.manager.audit import repairs
from climate.manager.leases import early_creations
from climate.manager.leases import target_watch
from climate.manager.leases import trust_reaper

_LONG = datetime.timedelta(hours=3)
_AGES = datetime.timedelta(days=900)
# How often an operator deletes a lease whose end is given up.
_ROUNDS = 2


def judge(model):
    """Bring all leases to their end, and check the result."""
    world = model.world
    _end_of_bad_luck(model)
    manager = world.managers[0]
    _let_time_pass(model, manager)
    target_watch.TargetWatch(manager.core).check_all(world.clock())
    _let_time_pass(model, manager)
    _ask_again_for_ends_given_up(model, manager)
    model.wake_all_hosts(manager)
    reaper = trust_reaper.TrustReaper(manager.core)
    reaper.reap(world.clock())
    reaper.reap(world.clock() + _AGES)
    early_creations.EarlyCreationReaper(manager.core).reap(world.clock() + _AGES)
    recorded = model_records.read(world.database)
    truths.check(recorded, model.recorded, model.now, builders.minutes(model.cleaning))
    model_lifecycles.what_happened_is_told(recorded, model_lifecycles.told(world.database))
    model.recorded = recorded
    model.judge_images()
    _leases_are_over(model, recorded)
    assert all(each.place is None for each in recorded.offers.values()), recorded.offers
    model.judge_forecasts(manager)
    model.others_get_everything(manager)
    _audit_finds_nothing(model, manager)
    model.judge_charges(manager)
    model.judge_bills()
    _nothing_is_left(model, manager)
    bounds.a_purge_leaves_nothing_of_members(manager.core, model.now)
    assert not model.complaints.found, '\n'.join(model.complaints.found)


def _audit_finds_nothing(model, manager):
    """Drift is there only where somebody came too late, or an administrator was cut short."""
    auditor = comparison.Auditor(manager.core)
    found = _but_forced(model, auditor.compare())
    if not model.world.frozen:
        kinds = {'freepool', 'not enrolled'} if model.unfinished else set()
        wrong = [each for each in found if each.kind not in kinds
                 and not any(f'server {came} ' in each.what for came in model.came)]
        assert not wrong, wrong
    if model.world.frozen:
        model.tally['made too late'] += model_types.take_what_came_too_late(
            model.world.cloud, model.own)
    if found:
        model.tally['drifts at the end'] += len(found)
        repairs.Repairs(manager.core, unknown=True).make(found)
        left = _but_forced(model, auditor.compare())
        assert left == [], left


def _but_forced(model, drifts):
    """Return the Drifts without the servers that an administrator forced onto hosts: they stay."""
    return [each for each in drifts if each.kind != 'foreign server'
            or each.what.removeprefix('server ') not in model.strangers]


def _end_of_bad_luck(model):
    world = model.world
    # Of what managers were doing nobody knows; their claims end by themselves.
    for place in range(len(world.managers)):
        world.restart(place)
    for call in model.failing:
        world.cloud.fail(call, 0, None)
    if world.ledger is not None:
        world.ledger.silent = False
    model.mend_hosts()
    world.cloud.silence_cell()
    model.mend_images()
    model.give_segments_back()
    model.empty_leased_networks()
    manager = world.managers[0]
    for verb, name in model.unfinished[-1:] + model.unfinished:
        with contextlib.suppress(errors.ResourceKnown, errors.ResourceInUse,
                                 errors.ResourceNotFound):
            getattr(model, f'_{verb}')(manager.client, name)
    for each in manager.client.list_resources(builders.an_admin(), 'host'):
        if each.lent_to is None:
            _use_again(model, manager, each)


def _use_again(model, manager, host):
    """Take a host into use; from one that was half withdrawn all servers go first."""
    inside = {name for each in manager.cloud.aggregates() for name in each.hosts}
    for server in manager.cloud.servers():
        if server.host == host.name and host.name not in inside:
            model.forget_server(server.id)
    manager.client.update_resource(builders.an_admin(), 'host', host.id, {}, reservable=True)


def _let_time_pass(model, manager):
    recorded = model_records.read(model.world.database)
    last = max([model.now, *(each.end for each in recorded.leases.values())])
    model.live_until(manager, last + _LONG)
    manager.expire()
    manager.run()
    recorded = model_records.read(model.world.database)
    assert manager.event_loop.next_moment() is None or all(
        due_events.awaits_retry(lease, event) for lease in recorded.leases.values()
        for event in recorded.open_events(lease.id)), 'Something goes on for ever.'


def _ask_again_for_ends_given_up(model, manager):
    """Delete leases whose end was given up, as an operator does, and again if it is once more.

    The first problem may have hidden servers whose images never became active.
    """
    for _ in range(_ROUNDS):
        stuck = [each for each in model_records.read(model.world.database).leases.values()
                 if each.state not in lifecycle.OVER and (
                     each.state != lifecycle.ERROR or each.ended_at is None)]
        if not stuck:
            return
        for lease in stuck:
            assert model.mood != 'calm', f'{lease} is stuck.'
            assert lease.state == lifecycle.ERROR, lease
            _delete_those_kept_without_an_image(model, lease)
            manager.delete(lease)
            model.told[lease.id].deleted = model.told[lease.id].asked_to_delete = True
        model.tally['ends given up'] += len(stuck)
        _let_time_pass(model, manager)


def _delete_those_kept_without_an_image(model, lease):
    """Delete the servers whose images never came, as the reason of their lease says."""
    for server in model.world.cloud.servers():
        if f'server {server.name} ({server.id}): ' in (lease.reason or ''):
            model.tally['servers kept'] += 1
            model.forget_server(server.id)


def _leases_are_over(model, recorded):
    """Each lease came to the end that its history demands."""
    for lease_id, told in model.told.items():
        lease = recorded.leases.get(lease_id)
        if lease is None:
            assert not told.made, f'{lease_id} is lost.'
            continue
        assert lease.deleted_at is None or told.asked_to_delete, f'{lease} was not to be deleted.'
        if recorded.never_acquired(lease) and lease.deleted_at is None:
            _was_given_up_rightly(recorded.acquisitions[lease_id], lease)
        else:
            assert lease.state == lifecycle.TERMINATED, lease
        if told.kind is not None:
            model.tally[f'{told.kind} {lease.state}'] += 1
        assert lease.task is None, lease
        assert (lease.deleted_at is not None) or not told.deleted, f'{lease} was to be deleted.'
    for each in recorded.reservations.values():
        assert each.state == lifecycle.RESERVATION_DELETED, each
        assert each.leased_id is None, each
    for each in recorded.resources.values():
        assert each.held_by is None, each
    if model.mood == 'calm' and not model.services_touched:
        with model.world.database.reader() as connection:
            given_up = connection.execute(
                sa.select(tables.HISTORY.c.lease_id, tables.HISTORY.c.what, tables.HISTORY.c.why)
                .where(tables.HISTORY.c.what.like('% given up'),
                       tables.HISTORY.c.what != 'host given up')).all()
        assert not given_up, given_up


def _others_are_as_they_were(model):
    """The servers of others run or are stopped; services are enabled, save by administrators."""
    there = {each.id: each for each in model.world.cloud.servers()}
    for server_id in model.strangers:
        server = there[server_id]
        assert server.task is None, server
        assert server.status in ('ACTIVE', 'SHUTOFF') or model.world.frozen, server
    assert {each.host: each.reason for each in model.world.cloud.compute_services()
            if not each.enabled} == model.disabled


def _was_given_up_rightly(acquisition, lease):
    """Its time had passed, it was tried as often as was asked for, or it exceeds a limit alone."""
    if lease.state == lifecycle.ERROR:
        tries = None if acquisition.retries is None else acquisition.retries + 1
        assert acquisition.attempts == tries or 'Limit "' in lease.reason, (lease, acquisition)
        return
    assert lease.state == lifecycle.TIMEDOUT, lease
    limits = [acquisition.not_after, None if acquisition.duration_seconds else lease.end]
    assert lease.ended_at >= min(filter(None, limits)), (lease, acquisition)


def _nothing_is_left(model, manager):
    """Check that the cloud has nothing of any lease, and that all hosts can be withdrawn."""
    services = manager.cloud.as_service()
    assert services.keystone.trusts() == [], services.keystone.trusts()
    _others_are_as_they_were(model)
    for each in manager.cloud.servers():
        manager.cloud.delete_server(each.id)
    pooled = [each.name for each in manager.client.list_resources(builders.an_admin(), 'host')]
    for name in pooled:
        model._withdraw(manager.client, name)
    lent = model_world.LENT_AGGREGATE, model_world.LENT
    assert {(each.name, each.hosts) for each in services.nova.aggregates()} - {
        ('freepool', ())} == {lent}
    model.delete_what_users_have()
    left = manager.cloud.leftovers()
    model_types.nothing_is_left(left, model.world.at_first)
    for name in ('flavors', 'flavor_access', 'server_groups', 'resource_classes', 'inventories'):
        assert left[name] == model.world.at_first[name], (name, left[name])
