# SPDX-License-Identifier: Apache-2.0
"""The interface to Nova's hypervisors and aggregates, and to the servers on hosts."""
import abc
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate import errors
from climate.cloud import models
from climate.cloud.base import interface
from climate.conf import services


class Nova(interface.ServiceInterface):
    """The hypervisors, the aggregates of hosts, and the servers on hosts."""

    service = 'Nova'

    @abc.abstractmethod
    @interface.read
    def hypervisor(self, name: str) -> models.Hypervisor:
        """Return the Hypervisor whose hypervisor_hostname is exactly `name`.

        :raises ResourceNotFound: there is none.
        :raises ResourceAmbiguous: there are several, in different cells.
        """

    @abc.abstractmethod
    @interface.read
    def hypervisor_name(self, hypervisor_id: str) -> str:
        """Return the hypervisor_hostname of a hypervisor.

        :param hypervisor_id: its UUID, or its number in the cells of early microversions. Other
            text is taken for the hypervisor_hostname itself, as existing clients send it.
        :raises ResourceNotFound: no hypervisor has that id.
        """

    @abc.abstractmethod
    @interface.read
    def hypervisors(self) -> list[models.Hypervisor]:
        """Return all Hypervisors, in no particular order."""

    @abc.abstractmethod
    @interface.read
    def servers_on(self, service_hosts: Iterable[str]) -> list[models.Server]:
        """Return the Servers of all projects on these hosts, without deleted ones."""

    @abc.abstractmethod
    def delete_server(self, server_id: str) -> None:
        """Begin to delete a server, which disappears later. Do nothing if it does not exist."""

    @abc.abstractmethod
    @interface.read
    def aggregate(self, name: str) -> models.Aggregate | None:
        """Return the Aggregate of that name, or None."""

    @abc.abstractmethod
    @interface.read
    def aggregates(self) -> list[models.Aggregate]:
        """Return all Aggregates, in no particular order."""

    @abc.abstractmethod
    def ensure_aggregate(self, name: str, zone: str | None = None,
                         metadata: Mapping[str, str] | None = None,
                         known: Iterable[models.Aggregate] | None = None) -> models.Aggregate:
        """Return the Aggregate of that name; create it if there is none.

        An existing one gets the zone and the metadata where they differ. Its other keys stay.

        :param known: a recent result of `aggregates`, to save the call; None: look it up.
        :raises StillBusy: servers on its hosts forbid a new zone.
        """

    @staticmethod
    def empty_aggregate(aggregate_id: int, name: str) -> models.Aggregate:
        """Return an Aggregate that is known to have no hosts, without a call."""
        return models.Aggregate(id=aggregate_id, name=name, zone=None, hosts=(), metadata={})

    @staticmethod
    def raise_worst(refusals: Iterable[Exception]) -> None:
        """Raise one of the errors, if any; prefer one that a later attempt would not cure.

        Refusals of single hosts are raised together.
        """
        single: dict[str, str] = {}
        for error in sorted(refusals, key=lambda error: isinstance(error, errors.StillBusy)):
            if not isinstance(error, errors.ResourcesRefused):
                raise error
            single |= error.refused
        if single:
            raise errors.ResourcesRefused(service='Nova', refused=single)

    @abc.abstractmethod
    def set_aggregate_metadata(self, aggregate: models.Aggregate,
                               metadata: Mapping[str, str | None]) -> None:
        """Set the keys of `metadata`; remove those whose value is None. Other keys stay."""

    @abc.abstractmethod
    def add_hosts(self, aggregate: models.Aggregate, service_hosts: Iterable[str],
                  alone: bool = False, known_only: bool = False) -> None:
        """Add these hosts to the aggregate, several at once. A host may already be in it.

        All hosts are tried, even if one fails.

        :param alone: whether this is the first change of its hosts, and nobody else changes them.
        :param known_only: whether to leave out hosts that Nova does not know.
        :raises ResourceNotFound: Nova knows no such host.
        :raises ResourcesRefused: servers on a host forbid its new zone, or it is in another zone;
            the error has the names of these service hosts.
        """

    @abc.abstractmethod
    def remove_hosts(self, aggregate: models.Aggregate, service_hosts: Iterable[str],
                     is_going: bool = False) -> None:
        """Remove these hosts from the aggregate, several at once. A host need not be in it.

        All hosts are tried, even if one fails.

        :param is_going: whether the aggregate is deleted next.
        :raises StillBusy: servers on a host forbid its new zone.
        """

    @abc.abstractmethod
    def delete_aggregate(self, aggregate: models.Aggregate) -> None:
        """Delete an empty aggregate. Do nothing if it does not exist."""

    @abc.abstractmethod
    @interface.read
    def quotas(self, project_id: str) -> dict[str, models.Quota]:
        """Return {name: Quota} of a project: instances, cores, and ram in MB."""


class NovaAdapter(interface.Adapter):
    """The options and the probe of Nova."""

    options = services.NOVA

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may make this call, and Climate must be one.
        return services.computes.of_hosts(['climate-status'])
