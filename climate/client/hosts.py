# SPDX-License-Identifier: Apache-2.0
"""Hosts that can be leased, by the path /os-hosts."""
import typing

from climate.client import http
from climate.client import resources


class Hosts(resources.Resources):
    """The enrolled hosts. Their properties are text fields among the fields of the host."""

    one, many = 'host', 'hosts'
    name_field = 'hypervisor_hostname'

    def __init__(self, transport: http.Http) -> None:
        super().__init__(transport, 'host')

    @staticmethod
    def _path_of(pool: str) -> str:
        return '/os-hosts'

    @staticmethod
    def _new(name: str | None, properties: dict[str, typing.Any],
             fields: dict[str, typing.Any]) -> dict[str, typing.Any]:
        return {**fields, **properties, 'name': name}

    @staticmethod
    def _changes(properties: dict[str, typing.Any]) -> dict[str, typing.Any]:
        return properties
