# SPDX-License-Identifier: Apache-2.0
"""A path of its own that a pool has in the REST interface, beside /v1/resources/{pool}."""
from collections.abc import Mapping
import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class View:
    """A path under which REST 1.0 serves the resources of a pool: to list, show, enrol, withdraw.

    Its policy rules are ``climate:{path}:get``, which all readers have, ``:post`` and ``:delete``.

    :ivar path: the path below /v1, such as 'floatingips'.
    :ivar one: the key of one resource in responses; `path` is that of a list.
    :ivar fields: {field of a response: the name of the fact that it shows}.
    :ivar enrol_schema: the closed JSON schema of the body that enrols a resource.
    :ivar enrols: {field of that body: the field of the pool's own `enrol_schema`}.
    """

    path: str
    one: str
    fields: Mapping[str, str]
    enrol_schema: Mapping[str, Any]
    enrols: Mapping[str, str]
