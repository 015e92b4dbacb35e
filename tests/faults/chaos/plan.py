# SPDX-License-Identifier: Apache-2.0
"""The plan of a run: how long it lasts, how large it is, and the seed of its chances."""
import dataclasses
import os
import pathlib
import random

from tools.cloud import settings


@dataclasses.dataclass(frozen=True)
class Plan:
    """One run.

    :ivar database: "postgresql" or "mariadb".
    :ivar lanes: names of the lanes of faults that run side by side; see injector.LANES.
    :ivar hosts: how many are enrolled.
    :ivar lent: how many more are lent to best effort; there is one more for what runs on them.
    :ivar seconds: how long faults are made, and clients ask for new leases.
    :ivar cuttable: the managers reach the database through a proxy that can cut them off.
    :ivar pinned: each manager keeps to one processor, as it should where it has much to do: its
        threads take turns anyway, and to wake one on another processor costs more than its turn.
    :ivar late_seconds: what an event may take beside the faults: the work itself, on a machine with
        much else to do.
    :ivar audit_seconds: how often a manager compares the database with the cloud.
    """

    place: settings.Settings
    database: str
    lanes: tuple
    seconds: float
    seed: int
    clients: int = 8
    managers: int = 3
    apis: int = 2
    hosts: int = 6
    lent: int = 2
    claim_seconds: int = 3
    answer_seconds: int = 5
    cuttable: bool = True
    pinned: bool = False
    audit_seconds: int = 10
    late_seconds: int = 8

    def chances(self, name):
        """Return a random.Random for that name: the same seed gives the same choices."""
        return random.Random(f'{self.seed} {name}')


def make(folder, database, lanes, seconds):
    """The Plan of a run in an empty folder, with what the environment says otherwise."""
    folder = pathlib.Path(folder)
    place = settings.Settings(folder=folder, venv=folder / 'venv', venv_is_shared=False,
                              climate_venv=settings.CHECKOUT / '.venv')
    place.make_folders()
    return Plan(place=place, database=database, lanes=tuple(lanes), seconds=seconds,
                seed=int(os.environ.get('CLIMATE_CHAOS_SEED') or random.randrange(10 ** 6)),
                clients=int(os.environ.get('CLIMATE_CHAOS_CLIENTS') or 8))
