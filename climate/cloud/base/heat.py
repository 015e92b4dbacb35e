# SPDX-License-Identifier: Apache-2.0
"""The interface to Heat's stacks."""
import abc
from collections.abc import Mapping
from typing import Any

from climate.cloud import models
from climate.cloud.base import interface
from climate.conf import services


class Stacks(interface.ServiceInterface):
    """The stacks of projects.

    All changes of a stack are asynchronous: a method returns when Heat has accepted the change.

    `spec` describes a new stack: its `name`; its `template`, as a dict or as text; and perhaps
    `parameters`, `environment`, `files`, `tags` (a list) and `timeout_minutes`, after which Heat
    gives up.
    """

    service = 'Heat'

    @abc.abstractmethod
    @interface.read
    def preview(self, spec: Mapping[str, Any], context: Any = None) -> models.StackPreview:
        """Return the StackPreview of a stack, with nested parts. Create nothing.

        :param context: the RequestContext of a caller, whose token makes the call; None: this
            identity makes it.
        :raises BadRequest: Heat refuses the template, a parameter or a value in it.
        :raises NotAuthenticated: the token of the caller is no longer valid.
        """

    @abc.abstractmethod
    def create(self, spec: Mapping[str, Any]) -> str:
        """Begin to create a stack in the project of this identity; return its id.

        Heat makes a trust of its own from the one of this identity: see `Keystone.redelegate`.

        :raises Conflict: the project has a stack of that name.
        :raises CloudError: Heat refuses it; the owner can read why.
        """

    @abc.abstractmethod
    @interface.read
    def find(self, project_id: str | None, name_or_id: str) -> models.Stack | None:
        """Return the Stack of a project, or None if there is none or it was deleted.

        :param project_id: None: the project of this identity.
        """

    @abc.abstractmethod
    def suspend(self, project_id: str, stack: models.Stack) -> None:
        """Begin to suspend a stack."""

    @abc.abstractmethod
    def resume(self, project_id: str, stack: models.Stack) -> None:
        """Begin to resume a stack."""

    @abc.abstractmethod
    def delete(self, project_id: str, stack: models.Stack) -> None:
        """Begin to delete a stack. Do nothing if it does not exist."""

    @abc.abstractmethod
    @interface.read
    def parts(self, project_id: str, stack: models.Stack) -> list[models.StackPart]:
        """Return the StackParts of a stack with their states; [] if the stack is gone."""


class HeatAdapter(interface.Adapter):
    """The options and the probe of Heat."""

    options = services.HEAT

    @staticmethod
    def probe(services: Any) -> object:
        return services.stacks.find(None, 'climate-status')
