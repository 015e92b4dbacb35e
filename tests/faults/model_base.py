# SPDX-License-Identifier: Apache-2.0
"""The base of all steps of the model: how a step acts through a manager, and what it remembers."""
import collections
import dataclasses
import datetime
import sys

from hypothesis import stateful
from hypothesis import strategies as st
import model_cloud
import model_end
import model_images
import model_records
import model_rules
import model_truths as truths
import model_types
import model_world
from support import builders
from support import crashing

from climate import errors

rule = model_rules.rule
#: Which of several; the lists are short, so that a small number will do.
WHICH = st.integers(0, 11)
SIDE = st.integers(0, 1)
CALM, STORMY, FROZEN = 'calm', 'stormy', 'frozen'
#: The end of the month in which all begins.
JUNE = datetime.datetime(2030, 6, 1, tzinfo=datetime.UTC)
# The time for which an offer that nobody took is kept.
_FORGOTTEN = datetime.timedelta(hours=1)


@dataclasses.dataclass
class Told:
    """The request of a client and the answer about the lease, on which the client may rely."""

    request: object
    made: bool = False
    deleted: bool = False
    asked_to_delete: bool = False

    @property
    def kind(self):
        """The type of its acquisition; None if it starts at a fixed time."""
        asked = self.request.acquire
        return None if asked is None else asked.type


class Base(stateful.RuleBasedStateMachine):
    """The state of a run.

    :cvar enforced: whether an enforcement service is asked, and the project has limits.
    :cvar tally: what happened in all runs, {word: how often}.
    :cvar steps: {rule: how often}, of all runs but those that only repeat one rule.
    :ivar taken: {rule: how often} of this run.
    :ivar told: {lease id: Told}.
    :ivar booted_for: {server id: id of the reservation on whose hosts or in whose room it is}.
    :ivar came: ids of the servers that say by themselves which lease they came for.
    :ivar strangers: ids of the servers of other projects that their users have not deleted.
    :ivar deleted_by_users: ids of the servers that their users have deleted.
    :ivar disabled: {service host: why an administrator has disabled it}.
    :ivar spoiled: ids of the servers whose images fail.
    :ivar services_touched: some were disabled, so that starts may have failed.
    :ivar own: {id: its table} of what users have that was not made for a lease.
    :ivar tampered: somebody removed objects of leases from the cloud.
    :ivar unfinished: (word, name) of what an administrator asked of a host and got no answer to.
    """

    enforced = False
    tally = collections.Counter()
    steps = collections.Counter()

    def __init__(self, conf, database, points, complaints):
        super().__init__()
        self.world = model_world.World(conf, database, points, self.enforced)
        self.complaints = complaints
        self.mood = CALM
        self.cleaning = 0
        self.most_refusals = model_world.MANY
        self.taken = collections.Counter()
        self.told = {}
        self.booted_for = {}
        self.came = set()
        self.strangers = set()
        self.deleted_by_users = set()
        self.disabled = {}
        self.spoiled = set()
        self.services_touched = False
        self.unfinished = []
        self.tampered = False
        self.own = {}
        self.failing = set()
        self._stirred = False
        self.recorded = model_records.read(database)
        self.images = model_images.Judge(self.world.witness, database, model_world.IMAGES_TAKE,
                                         self.tally)

    @classmethod
    def forget(cls):
        """Reset all counts."""
        cls.tally.clear()
        cls.steps.clear()

    @stateful.initialize(mood=st.sampled_from([CALM, CALM, STORMY, STORMY, FROZEN]),
                         hosts=st.sampled_from([4, 4, 3, 2, 1]),
                         cleaning=st.sampled_from([0, 0, 0, 5]),
                         hold_room=st.sampled_from(['required', 'preferred']),
                         crowd=st.integers(0, 4),
                         refusals=st.sampled_from(model_world.REFUSALS),
                         month_end=st.sampled_from([None, 5, 20, 60, 240]),
                         charges_when_asked=st.booleans())
    def begin(self, mood, hosts, cleaning, hold_room, crowd, refusals, month_end,
              charges_when_asked):
        self.mood, self.cleaning, self.most_refusals = mood, cleaning, refusals
        if month_end is not None:
            self.world.clock.now = JUNE - builders.minutes(month_end)
        self.tally[f'{mood} runs'] += 1
        self.world.choose(cleaning, hold_room, refusals)
        self.begin_enforcement(charges_when_asked)
        self.world.managers[0].enrol(hosts, gpu='A100')
        for pool, (names, fields) in model_world.POOLS.items():
            for name in names:
                self.world.managers[0].client.create_resource(
                    builders.an_admin(), pool, name, {}, fields)
        for number in range(crowd):
            self.boot_for_others('2', model_world.LENT[number % 2])

    @property
    def now(self):
        return self.world.clock()

    def act(self, side, deed):
        """Return what `deed(manager)` returns; None if the manager died of it."""
        self.acting = side
        self._stirred = True
        try:
            return deed(self.world.managers[side])
        except crashing.Crash:
            self.tally['crashes'] += 1
            self.world.restart(side)
            return None

    def ask(self, side, deed, of_the_cloud=False):
        """Return what `deed(client)` returns; None if it was refused, or if the manager died of it.

        A refusal changes nothing, and nobody refuses with an error that nobody meant.

        :param of_the_cloud: what is asked for changes the cloud first, and that may fail.
        """
        return self.demand(side, lambda manager: deed(manager.client), of_the_cloud)

    def demand(self, side, deed, of_the_cloud=False):
        """Ask the manager itself, as `ask` asks through a client."""
        # Before a request is refused for lack of capacity, expired offers are released and old ones
        # deleted.
        over = any(
            each.held_until <= (self.now if each.place is not None else self.now - _FORGOTTEN)
            for each in self.recorded.offers.values())
        quiet = not (self.world.points.armed or self._stirred or over
                     or (of_the_cloud and self.mood != CALM))

        def call(manager):
            try:
                return deed(manager)
            except errors.ClimateError as error:
                self._judge_refusal(error, quiet)
                return None
        return self.act(side, call)

    def _judge_refusal(self, error, quiet):
        self.tally[f'refused: {type(error).__name__}'] += 1
        assert type(error) is not errors.ClimateError, '\n'.join(self.complaints.found)
        assert self.mood != CALM or self.tampered or not isinstance(error, errors.CloudError), (
            error.message)
        if quiet:
            found = model_records.read(self.world.database)
            # A creation whose answer was lost stays noted, for the reaper.
            assert dataclasses.replace(
                found, early_creations=self.recorded.early_creations) == self.recorded, (
                    f'Refused, and yet something was written: {error.message}')

    def lease(self, lease_id):
        """The lease as it is now, or None."""
        try:
            return self.world.managers[0].client.get_lease(builders.a_member(), lease_id)
        except errors.LeaseNotFound:
            return None

    def live(self):
        """The rows of the leases that are not over, oldest first."""
        return [each for each in self.recorded.leases.values()
                if each.deleted_at is None and each.state not in ('TERMINATED', 'TIMEDOUT')]

    def pick(self, found, which):
        return found[which % len(found)]

    @stateful.invariant()
    def all_is_true(self):
        self._stirred = False
        assert not self.complaints.found, '\n'.join(self.complaints.found)
        before, self.recorded = self.recorded, model_records.read(self.world.database)
        truths.check(self.recorded, before, self.now, builders.minutes(self.cleaning))
        if not self.world.frozen:
            # What a manager did too late is not true at once: an audit finds it.
            model_cloud.check(self.world.cloud, self.recorded, self.booted_for,
                              self.strangers)
            model_types.check(self.world.cloud, self.recorded, self.own)
            model_cloud.nobody_else_suffers(self.world.cloud, self.recorded, self.strangers,
                                            self.disabled)
        self.judge_images()
        for lease_id, told in self.told.items():
            assert not told.made or lease_id in self.recorded.leases, f'{lease_id} is lost.'

    def spoil_images(self, server_id, fault):
        """Make the images of a server fail, as ``SimulatedCloud.spoil_images`` does."""
        self.spoiled.add(server_id)
        self.world.cloud.spoil_images(server_id, fault)

    def mend_images(self):
        """Make the images of all servers succeed again, except those that are stuck."""
        for server_id in self.spoiled:
            self.world.cloud.spoil_images(server_id, None)
        self.spoiled.clear()

    def judge_images(self):
        """Check that no server went without its image."""
        self.images.look(self.recorded, self.now, self.booted_for,
                         excused=self.deleted_by_users, strict=not self.world.frozen)

    def teardown(self):
        try:
            # Behind a failure nothing more is to be shown.
            if sys.exc_info()[0] is None:
                self.tally['runs judged'] += 1
                model_end.judge(self)
        finally:
            if len(self.taken) > 1:
                self.steps.update(self.taken)
            self.complaints.found.clear()
            self.world.close()
