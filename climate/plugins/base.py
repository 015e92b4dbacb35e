# SPDX-License-Identifier: Apache-2.0
"""The contracts of a pool and of a resource plugin."""
import abc
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import ClassVar

from oslo_config import cfg

from climate import errors
from climate.domain import records
from climate.domain import requirement
from climate.domain import selection
from climate.domain import values
from climate.plugins import audited
from climate.plugins import cloud as clouds
from climate.plugins import early
from climate.plugins import losing
from climate.plugins import measured
from climate.plugins import pool_view
from climate.plugins import shareable
from climate.plugins import sub_leasable
from climate.plugins import targets
from climate.plugins import transferable

Attempt = clouds.Attempt
#: Why a resource that the cloud does not know is unfit.
UNKNOWN = 'the cloud does not know it any more'
#: A client's request for one reservation, as described by the plugin's schema.
Request = dict[str, Any]
#: {need key: the Resources allocated for that need, each once}.
Allocated = Mapping[str, tuple[records.Resource, ...]]


@dataclasses.dataclass(frozen=True)
class Found:
    """A resource as the cloud describes it.

    :ivar name: the exact name of the resource, unique in the pool.
    :ivar capacity: {class name: units}.
    :ivar facts: {name: text}. Criteria can use facts. Operators cannot change them.
    """

    name: str
    capacity: dict[str, int]
    facts: dict[str, str]


def name_schema(description: str, longest: int = 255) -> dict[str, Any]:
    """Return an `enrol_schema` whose only field is `name`."""
    return {'type': 'object', 'required': ['name'], 'additionalProperties': False,
            'properties': {'name': {'description': description, 'type': 'string', 'minLength': 1,
                                    'maxLength': longest}}}


class Pool(audited.AuditedPool, abc.ABC):
    """A source of resources. One instance serves all threads of a manager."""

    #: The noun in URLs, in tables, in the names of policy rules and in messages.
    name: ClassVar[str] = ''
    #: Closed JSON schema of a request to enrol a resource, without its field `properties`.
    enrol_schema: ClassVar[Mapping[str, Any]] = name_schema('The name of the resource in the '
                                                            'cloud.')
    #: The additional path of the pool in REST 1.0; None if it has only /v1/resources/{name}.
    view: ClassVar[pool_view.View | None] = None
    #: {name of a capacity in criteria: name of its class in `Found.capacity`}.
    capacity_names: ClassVar[Mapping[str, str]] = {}
    #: {name of a capacity in criteria: name of its class in the amounts of allocations}, for those
    #: that are not the classes of `capacity_names`.
    amount_names: ClassVar[Mapping[str, str]] = {}
    #: The names of the facts that `discover` returns.
    fact_names: ClassVar[tuple[str, ...]] = ()
    #: Prefixes of the names of further facts, such as `max_unit:`.
    fact_prefixes: ClassVar[tuple[str, ...]] = ()
    #: The word that means the name of a resource in criteria.
    name_fact: ClassVar[str] = 'name'
    #: The words in criteria that identify one resource. Only callers that a policy rule allows may
    #: use them, because otherwise any user could find out which resources exist.
    identifying_names: ClassVar[frozenset[str]] = frozenset()
    #: The names of the adapters that the pool uses, such as 'nova'.
    services: ClassVar[tuple[str, ...]] = ()

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf

    @abc.abstractmethod
    def discover(self, cloud: clouds.Cloud, name: str) -> Found:
        """Read the resource `name` from the cloud; return its Found. Changes nothing.

        :raises ResourceNotFound: the cloud has no resource of exactly that name.
        """

    def identify(self, cloud: clouds.Cloud, name: str, fields: Mapping[str, Any]) -> Found:
        """Read the resource that an administrator wants to enrol; return its Found.

        Changes nothing.

        :param name: the name in the request; '' if `enrol_schema` has no name.
        :param fields: the other fields of the request, {name: value}.
        :raises BadRequest: the fields do not describe one resource.
        :raises ResourceNotFound: the cloud has no such resource.
        """
        return self.discover(cloud, name)

    @classmethod
    def own_names(cls) -> frozenset[str]:
        """Return the words in criteria that are no properties of operators."""
        return frozenset({*cls.capacity_names, *cls.fact_names, cls.name_fact})

    @classmethod
    def unit_classes(cls, unit: str) -> tuple[str, str]:
        """Return the classes of a unit of limits: in `Found.capacity`, and in amounts.

        :param unit: a name in `capacity_names`, or a class.
        """
        capacity_class = cls.capacity_names.get(unit, unit)
        return capacity_class, cls.amount_names.get(unit, capacity_class)

    @classmethod
    def is_range(cls, name: str, fields: Mapping[str, Any]) -> bool:
        """Return whether a request to enrol names several resources, such as a range. Pure."""
        return False

    def identify_range(self, cloud: clouds.Cloud, name: str,
                       fields: Mapping[str, Any]) -> Sequence[Found]:
        """Read all resources of a range; return their Founds, in order. Changes nothing.

        Called only if `is_range` is true. Climate enrols all of the resources, or none.

        :raises BadRequest: the range is malformed or too long.
        :raises ResourceNotFound: the cloud lacks one of the resources.
        """
        return [self.identify(cloud, name, fields)]

    @classmethod
    def shown(cls, resource: records.Resource) -> dict[str, Any]:
        """Return the fields of a Resource in responses from REST 1.1 on, as a dict.

        Climate adds the id, the name, the properties and the times of the resource.
        """
        return {**resource.facts, **{name: resource.capacity.get(unit, 0)
                                     for name, unit in cls.capacity_names.items()}}

    def survey(self, cloud: clouds.Cloud,
               resources: Iterable[records.Resource]) -> dict[str, Found]:
        """Read enrolled resources from the cloud; return {name: Found}. Changes nothing.

        Resources that the cloud does not know are left out. If a running lease changes a fact, such
        as the availability zone of a host, the Found has the value of the fact in `resources`.
        """
        descriptions = {}
        for resource in resources:
            try:
                descriptions[resource.name] = self.discover(cloud, resource.name)
            except (errors.ResourceNotFound, errors.ResourceAmbiguous):
                continue
        return descriptions

    def unfit(self, cloud: clouds.Cloud,
              resources: Iterable[records.Resource]) -> dict[str, str]:
        """Return {name: why, in words} of enrolled resources that could not be enrolled now.

        Changes nothing. Climate shows the reasons in the log and in audits.
        """
        resources = tuple(resources)
        descriptions = self.survey(cloud, resources)
        return {each.name: UNKNOWN for each in resources if each.name not in descriptions}

    def failing(self, cloud: clouds.Cloud,
                resources: Iterable[records.Resource]) -> dict[int, str]:
        """Return {id: why, in words} of the Resources on which no lease can start now.

        Changes nothing.
        """
        return {}

    def unhealthy(self, cloud: clouds.Cloud,
                  resources: Sequence[records.Resource]) -> dict[int, str]:
        """Return {id: why, in words} of the Resources that do not work, for the health checks.

        Changes nothing. It may make more calls than `failing`, because starts do not call it.
        """
        return self.failing(cloud, resources)

    def close(self, cloud: clouds.Cloud, resource: records.Resource, reason: str) -> None:
        """Close a resource to new servers, volumes or other objects, for `reason`. Repeatable.

        A resource that was closed for another reason keeps that reason.
        """

    def reopen(self, cloud: clouds.Cloud, resource: records.Resource, reason: str) -> None:
        """Reopen a resource that was closed for exactly that reason. Repeatable.

        An open resource, or one that the cloud does not know, is no error.
        """

    def admit(self, cloud: clouds.Cloud, found: Found) -> None:
        """Take the resource out of ordinary use. Repeatable.

        :raises ResourceInUse: the resource is in use; nothing was changed.
        """

    def check_dismissal(self, cloud: clouds.Cloud, resource: records.Resource) -> None:
        """Refuse a resource that `dismiss` would refuse. Changes nothing.

        :raises ResourceInUse: somebody still uses the resource.
        """

    def dismiss(self, cloud: clouds.Cloud, resource: records.Resource) -> None:
        """Return the resource to ordinary use. Repeatable; not found is success.

        :raises ResourceInUse: somebody still uses it.
        """

    def mend(self, cloud: clouds.Cloud, resource: records.Resource) -> None:
        """Recreate the missing objects of an enrolled resource in the cloud. Repeatable.

        A resource that a reservation occupies is not moved.

        :raises ResourceInUse: a server without a reservation uses the resource.
        """


@dataclasses.dataclass(frozen=True, order=True)
class Alike:
    """A rule for the resources of a need: each shares a fact with a resource of another pool.

    Only resources of the same lease count. If the lease has none of the other pool, the rule does
    not apply.

    :ivar fact: the name of the fact.
    :ivar pool: the name of the other pool.
    """

    fact: str
    pool: str


@dataclasses.dataclass(frozen=True)
class Need:
    """The demand of a reservation on one pool: the amount, and the criteria for the resources.

    :ivar key: the name of the need, unique in its plugin. Each allocation stores the key of its
        need, so a key must never change: neither in later releases nor when a request changes.
    :ivar optional: True if the reservation is booked without this need when nothing is free.
    :ivar called: one copy in messages for users, such as "server of flavor m1.small". The plural
        adds an s to the first word. Empty if each copy is a whole resource; then messages use the
        name of the pool.
    :ivar alike: the Alike rule for the resources, or None.
    """

    key: str
    pool: str
    demand: selection.Demand
    requirement: requirement.Requirement
    optional: bool = False
    called: str = ''
    alike: Alike | None = None


@dataclasses.dataclass(frozen=True)
class Occasion:
    """The circumstances of a request.

    :ivar project_id: the project that the reservation is for.
    :ivar starts_now: True if the lease starts at once.
    :ivar before: the Reservation that the request changes; None if it creates one.
    :ivar caller: the RequestContext of the API request, for calls with the caller's token; None
        outside of API requests.
    :ivar depends_on: {label: resource type} of the reservations that a new reservation depends on.
    """

    project_id: str
    starts_now: bool = True
    before: records.Reservation | None = None
    caller: Any = None
    depends_on: Mapping[str, str] = dataclasses.field(default_factory=dict)


class ResourcePlugin(targets.LeasesTargets, early.CreatesEarly, audited.Audited,
                     measured.Measured, losing.LosesObjects, shareable.Shareable,
                     transferable.Transferable, sub_leasable.SubLeasable, abc.ABC):
    """The plugin of one resource type: it checks requests, and starts and ends reservations.

    One instance serves all threads of a manager. A plugin never opens the database.

    The methods `prepare`, `stage`, `start`, `before_end`, `secure` and `end` share these
    parameters:

    * `cloud` is a ``plugins.cloud.LeaseCloud``. Create with ``as_user()`` everything that belongs
      to the user; it raises TrustDead if Climate cannot act for the owner. Use
      ``as_owner_or_service()`` only to remove objects.
    * `lease` and `reservation` are the present Records.
    * `resources` is {need key: the Resources allocated for that need, each once, as a tuple}, with
      every key of `needs`.

    Each of these methods may raise TargetGone if the leased target does not exist any more. Then
    the reservation is over.
    """

    #: The name of the type in requests, and of the plugin in setup.cfg.
    resource_type: ClassVar[str] = ''
    #: Closed JSON schema of a request at the newest REST version.
    schema: ClassVar[dict[str, Any]] = {}
    #: The fields of a resolved request that may be large or contain passwords or keys. They are
    #: stored separately until the reservation is active. No log, response or notification shows
    #: them. Only `resolve` gets them in the request; `prepare`, `stage` and `start` get them from
    #: ``cloud.whole_request``.
    secret_fields: ClassVar[frozenset[str]] = frozenset()
    #: A valid request, shown in the documentation.
    example: ClassVar[Request] = {}
    #: The Pool classes that the plugin draws from.
    pools: ClassVar[tuple[type[Pool], ...]] = ()
    #: The names of the adapters that the plugin itself uses, in addition to those of its pools.
    services: ClassVar[tuple[str, ...]] = ()
    #: oslo.config options, registered in a group with the name of the type.
    options: ClassVar[tuple[cfg.Opt, ...]] = ()
    #: True if `end` may delete servers. Then `secure` of the lease's reservations is called first.
    ends_servers: ClassVar[bool] = False
    #: True if needs of the type may have an `alike` rule.
    ties = False

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf

    @classmethod
    def asked(cls, request: Request) -> Request:
        """Return the fields of a resolved request that a client may send."""
        return request

    def resolve(self, cloud: clouds.Cloud, request: Request, occasion: Occasion) -> Request:
        """Add to a request the facts of the cloud that the plugin needs; return its stored form.

        Only reads the cloud. The request may be the result of an earlier `resolve`.

        :param occasion: the Occasion of the request.
        :raises BadRequest: the request is invalid.
        :raises Conflict: a running reservation cannot be changed in this way.
        """
        return request

    def kinds(self, services: Any) -> Mapping[str, Request]:
        """Return a resolved request for one copy of each kind that the caller may reserve, by id.

        All have one need for an amount, in the same pool. By default there are none.

        :param services: the ``climate.cloud.base.CloudServices`` that act as the caller.
        """
        return {}

    def secret_texts(self, secrets: Mapping[str, Any]) -> Iterable[str]:
        """Return the texts that no message may show; by default all in `secret_fields`. Pure.

        Climate masks these texts in an error and shortens it afterwards. So raise errors with the
        whole message of the cloud: a part of a secret would not be masked.

        :param secrets: the secret fields of a request, {name: value}.
        """
        return values.texts_in(secrets)

    def needs_owner(self, request: Request) -> tuple[str, str] | None:
        """Return the field of a resolved request that Climate can serve only as the owner. Pure.

        If the owner cannot delegate to Climate, the lease is refused and the error names the field.

        :returns: (name of the field, why, in words that begin a sentence), or None.
        """
        return None

    def acts_as_owner(self, request: Request) -> bool:
        """Return whether Climate serves a resolved request as the owner if it can. Pure.

        If no reservation of a lease does so, the lease gets no Keystone trust.
        """
        return self.needs_owner(request) is not None

    def joins(self, cloud: clouds.Cloud, reservation: records.Reservation
              ) -> requirement.Requirement:
        """Return additional criteria for resources that a change adds to a running reservation.

        They follow from the objects that the reservation has in the cloud. Only reads the cloud.
        """
        return requirement.NOTHING

    def redelegates(self, request: Request) -> bool:
        """Return True if a service, such as Heat, creates its own trust for a resolved request.

        Then ``cloud.as_user_redelegated()`` works, because the trust of the lease is redelegable.
        Pure.
        """
        return False

    @abc.abstractmethod
    def needs(self, request: Request) -> Sequence[Need]:
        """Return the Needs of a resolved request, each with its own key. Pure.

        Several may use one pool.
        """

    def schedules_in_start(self, reservation: records.Reservation) -> bool:
        """Return True if Nova places servers on the reservation's hosts during `start`. Pure.

        For example, `start` creates a stack or unshelves a server. The scheduler filter then admits
        these servers before the reservation is active.
        """
        return False

    def prepares(self, request: Request) -> bool:
        """Return True if `prepare` is to be called before the start. Pure."""
        return False

    def prepare(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                reservation: records.Reservation, resources: Allocated) -> dict[str, Any] | None:
        """Prepare the start, for example by shelving a server. Repeatable.

        Called soon after the lease was created; returns the binding, as `start` does.

        :raises StillBusy: the preparation is not finished; Climate calls the method again soon.
        """

    def stages(self, request: Request) -> bool:
        """Return True if `stage` is to be called before the start. Pure."""
        return False

    def stage(self, cloud: clouds.LeaseCloud, lease: records.Lease,
              reservation: records.Reservation, resources: Allocated) -> dict[str, Any] | None:
        """Create those objects that nobody can use or see before the start. Repeatable.

        Called in the last minutes before the start, and again if the request changes. `start` must
        also work if `stage` was not called. `end` must remove the objects of `stage`, too. Returns
        the binding, as `start` does.
        """

    @abc.abstractmethod
    def start(self, cloud: clouds.LeaseCloud, lease: records.Lease,
              reservation: records.Reservation, resources: Allocated) -> dict[str, Any]:
        """Hand over exactly `resources`; return the binding, the ids of the objects, as a dict.

        Repeatable. Also called when the resources of a running reservation change; it then removes
        the objects on resources that are not in `resources` any more. ``cloud.attempt.former`` has
        these former resources, even if somebody removed their objects from the cloud.

        :raises StillBusy: the start is not finished; Climate calls the method again soon.
        :raises ResourcesRefused: the cloud refuses the resources that the error names, and the
            reservation has no objects on them. Climate calls `start` again with other resources.
        """

    def before_end(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                   reservation: records.Reservation, resources: Allocated) -> None:
        """Do what the request asks for shortly before the end, such as making images."""

    def secures(self, reservation: records.Reservation) -> bool:
        """Return True if `secure` is to be called at the end. Pure."""
        return False

    def secure(self, cloud: clouds.LeaseCloud, lease: records.Lease,
               reservation: records.Reservation, resources: Allocated) -> None:
        """Save the data of servers that `end` of other reservations may delete. Repeatable.

        Called with the parameters of `end`, before `end` of any reservation of the lease. As long
        as `secure` fails, the lease keeps all its objects.

        :raises StillBusy: the data is not saved yet; Climate calls the method again soon.
        """

    @abc.abstractmethod
    def end(self, cloud: clouds.LeaseCloud, lease: records.Lease, reservation: records.Reservation,
            resources: Allocated) -> None:
        """Remove all objects of the reservation; not found is success. Repeatable.

        The start may have been interrupted, or its binding may be lost after a crash. So find the
        objects by the reservation's id, not by the binding.

        :param resources: the exclusive resources that the reservation still occupies, and the
            shared resources that it has, or that a change removed and that may still be in use.
        :raises StillBusy: some objects still exist; Climate calls the method again soon.
        """

    @classmethod
    def fields(cls, reservation: records.Reservation) -> dict[str, Any]:
        """Return the type's fields of a reservation in responses from REST 1.1 on, as a dict."""
        return {**reservation.request, **reservation.binding}

    @classmethod
    def shown(cls, reservation: records.Reservation) -> dict[str, Any]:
        """Return the type's fields of a reservation in responses at REST 1.0, as a dict."""
        return cls.fields(reservation)
