# SPDX-License-Identifier: Apache-2.0
"""The wire to a manager that keeps what the manager has answered."""
import json

from climate.manager import endpoint
from support import builders


class RecordedWire(builders.Wire):
    """The wire to a builders.Manager; `answers` are the texts of what it has answered."""

    def __init__(self, manager):
        super().__init__(endpoint.InProcess(endpoint.Endpoint(manager.core)))
        self.answers = []

    def call(self, *called, **more):
        answer = super().call(*called, **more)
        self.answers.append(json.dumps(answer))
        return answer
