# SPDX-License-Identifier: Apache-2.0
"""An additional path of a pool in the REST interface, beside /v1/resources/{pool}."""
from collections.abc import Mapping
import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class View:
    """A path under which REST 1.0 lists, shows, enrols and withdraws the resources of a pool.

    Its policy rules are ``climate:{path}:get``, ``climate:{path}:post`` and
    ``climate:{path}:delete``.

    :ivar path: the path below /v1, such as 'floatingips'; also the key of a list in responses.
    :ivar one: the key of one resource in responses.
    :ivar fields: {field of a response: the name of the fact that it shows}.
    :ivar enrol_schema: the closed JSON schema of the body that enrols a resource.
    :ivar enrols: {field of that body: its name in `Pool.enrol_schema`}.
    """

    path: str
    one: str
    fields: Mapping[str, str]
    enrol_schema: Mapping[str, Any]
    enrols: Mapping[str, str]
