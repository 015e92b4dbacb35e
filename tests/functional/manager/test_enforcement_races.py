# SPDX-License-Identifier: Apache-2.0
"""Copies of a request withdraw their questions to an enforcement service at the same moment.

CLIMATE_RACE_ROUNDS says how often it is tried; a few times by default.
"""
import dataclasses
import os
import uuid

from support import builders
from support import ledger_driver
from support import simultaneous

from climate.db import enforcement_calls
from climate.domain import enforcement
from climate.manager.enforcement import calls

_ROUNDS = int(os.environ.get('CLIMATE_RACE_ROUNDS') or 3)
_COPIES = 4


def _question(lease_id):
    return enforcement.EnforcementCall(
        call_id=str(uuid.uuid4()), lease_id=lease_id, kind=enforcement.CREATE,
        state=enforcement.ASKING, body={'context': {}, 'lease': {'id': lease_id}},
        created_at=builders.NOON, due_at=builders.NOON)


def test_copies_of_a_request_that_fail_together_leave_one_report_of_the_end(manager, conf):
    core = dataclasses.replace(
        manager.core, enforcement=ledger_driver.LedgerDriver(conf, charges_when_asked=True))
    for _ in range(_ROUNDS):
        lease_id = str(uuid.uuid4())
        questions = [_question(lease_id) for _ in range(_COPIES)]
        with manager.database.writer() as connection:
            for question in questions:
                enforcement_calls.add(connection, question)
        simultaneous.at_once(*[lambda question=question: calls.withdraw(core, question)
                               for question in questions])
        with manager.database.reader() as connection:
            left = enforcement_calls.of_lease(connection, lease_id)
        assert [(each.kind, each.state) for each in left] == [
            (enforcement.END, enforcement.DUE)]
