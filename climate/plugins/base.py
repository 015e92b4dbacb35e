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
from climate.plugins import measured
from climate.plugins import pool_view
from climate.plugins import targets

Attempt = clouds.Attempt
#: The reason of a resource that the cloud does not know.
UNKNOWN = 'the cloud does not know it any more'
#: The request of a client for one reservation, as the plugin's schema describes it.
Request = dict[str, Any]
#: {need key: the Resources allocated for that need, each once}.
Allocated = Mapping[str, tuple[records.Resource, ...]]


@dataclasses.dataclass(frozen=True)
class Found:
    """The description of a resource by the cloud, read to enrol it and again later.

    :ivar name: the exact name of the resource, unique in the pool.
    :ivar capacity: {class name: units}.
    :ivar facts: {name: text}; criteria can use them, operators cannot change them.
    """

    name: str
    capacity: dict[str, int]
    facts: dict[str, str]


def name_schema(description: str, longest: int = 255) -> dict[str, Any]:
    """Return an `enrol_schema` with a name only."""
    return {'type': 'object', 'required': ['name'], 'additionalProperties': False,
            'properties': {'name': {'description': description, 'type': 'string', 'minLength': 1,
                                    'maxLength': longest}}}


class Pool(audited.AuditedPool, abc.ABC):
    """A source of resources. One instance serves all threads of a manager."""

    #: The noun in URLs, in tables, in the names of policy rules and in messages.
    name: ClassVar[str] = ''
    #: JSON schema of an administrator's request to enrol a resource, without its properties;
    #: closed.
    enrol_schema: ClassVar[Mapping[str, Any]] = name_schema('What the cloud calls it.')
    #: Its own path in REST 1.0; None: there is only /v1/resources/{name}.
    view: ClassVar[pool_view.View | None] = None
    #: Names of the capacity in criteria: {criterion name: class name}.
    capacity_names: ClassVar[Mapping[str, str]] = {}
    #: The names of the facts that `discover` returns.
    fact_names: ClassVar[tuple[str, ...]] = ()
    #: Prefixes of further facts, such as one `max_unit:` fact for each resource class.
    fact_prefixes: ClassVar[tuple[str, ...]] = ()
    #: The name in criteria for the resource's own name.
    name_fact: ClassVar[str] = 'name'
    #: The names in criteria that identify one resource. Only some callers may use them, and lent
    #: resources meet no such criteria, because otherwise any user could find out which exist.
    identifying_names: ClassVar[frozenset[str]] = frozenset()
    #: The names of the adapters that the pool uses, such as 'nova'.
    services: ClassVar[tuple[str, ...]] = ()

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf

    @abc.abstractmethod
    def discover(self, cloud: clouds.Cloud, name: str) -> Found:
        """Read the resource `name` from the cloud; return a Found. Changes nothing.

        :raises ResourceNotFound: the cloud has no resource of exactly that name.
        """

    def identify(self, cloud: clouds.Cloud, name: str, fields: Mapping[str, Any]) -> Found:
        """Read the resource that an administrator wants to enrol; return a Found.

        Changes nothing.

        :param name: the name that was sent; '' if `enrol_schema` has no name.
        :param fields: the other fields of `enrol_schema` that were sent, as a dict.
        :raises BadRequest: the fields do not describe one resource.
        :raises ResourceNotFound: the cloud has no such resource.
        """
        return self.discover(cloud, name)

    @classmethod
    def is_range(cls, name: str, fields: Mapping[str, Any]) -> bool:
        """Return whether an enrolment stands for several resources, such as a range. Pure."""
        return False

    def identify_range(self, cloud: clouds.Cloud, name: str,
                       fields: Mapping[str, Any]) -> Sequence[Found]:
        """Read all resources of a range; return Founds, in order. Changes nothing.

        Only called if `is_range` is true. Either all of them are enrolled or none.

        :raises BadRequest: the range is malformed or too long.
        :raises ResourceNotFound: the cloud lacks one of them.
        """
        return [self.identify(cloud, name, fields)]

    @classmethod
    def shown(cls, resource: records.Resource) -> dict[str, Any]:
        """Return the pool's own fields of a Resource in answers from REST 1.1 on, as a dict.

        Every answer also has its id, name, properties and times.
        """
        return {**resource.facts, **{name: resource.capacity.get(unit, 0)
                                     for name, unit in cls.capacity_names.items()}}

    def survey(self, cloud: clouds.Cloud,
               resources: Iterable[records.Resource]) -> dict[str, Found]:
        """Read enrolled resources from the cloud; return {name: Found}. Changes nothing.

        Resources that the cloud does not know are left out. A fact whose value in the cloud comes
        from a running lease keeps its value in `resources`.
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

        Changes nothing. The log and audits have the reasons.
        """
        resources = tuple(resources)
        known = self.survey(cloud, resources)
        return {each.name: UNKNOWN for each in resources if each.name not in known}

    def failing(self, cloud: clouds.Cloud,
                resources: Iterable[records.Resource]) -> dict[int, str]:
        """Return {id: why, in words} of the Resources where no lease can start now.

        Changes nothing.
        """
        return {}

    def unhealthy(self, cloud: clouds.Cloud,
                  resources: Sequence[records.Resource]) -> dict[int, str]:
        """Return {id: why, in words} of the Resources that do not work, for the health checks.

        Changes nothing. It may make more calls than `failing`, which each start calls.
        """
        return self.failing(cloud, resources)

    def close(self, cloud: clouds.Cloud, resource: records.Resource, reason: str) -> None:
        """Close a resource to new servers and the like, for `reason`. Repeatable.

        A resource that was closed for another reason stays as it is.
        """

    def reopen(self, cloud: clouds.Cloud, resource: records.Resource, reason: str) -> None:
        """Undo `close` for exactly that reason. Repeatable; a resource may be open or unknown."""

    def admit(self, cloud: clouds.Cloud, found: Found) -> None:
        """Take the resource out of ordinary use. Repeatable.

        :raises ResourceInUse: the resource cannot be taken now; nothing was changed.
        """

    def dismiss(self, cloud: clouds.Cloud, resource: records.Resource) -> None:
        """Return the resource to ordinary use. Repeatable; not found is success.

        :raises ResourceInUse: somebody still uses it.
        """

    def mend(self, cloud: clouds.Cloud, resource: records.Resource) -> None:
        """Restore the objects of an enrolled resource in the cloud. Repeatable.

        A resource that a reservation occupies stays where it is.

        :raises ResourceInUse: it cannot be restored now.
        """


@dataclasses.dataclass(frozen=True, order=True)
class Alike:
    """A rule for the resources of a need: each shares a fact with a resource of another pool.

    The other resources are those of the same lease. A lease without any of that pool is exempt.

    :ivar fact: the name of the fact.
    :ivar pool: the name of the other pool.
    """

    fact: str
    pool: str


@dataclasses.dataclass(frozen=True)
class Need:
    """The demand of a reservation on one pool: how much it needs, and criteria for the resources.

    :ivar key: the name of the need among those of its plugin. Each allocation stores the key of
        the need that it serves. So a key must never change, neither in later releases nor when a
        request changes.
    :ivar optional: True if the reservation is booked without this need when nothing is free.
    :ivar called: the name of one copy for users, such as "server of flavor m1.small"; in the
        plural its first word gets an s. Empty if copies are whole resources, named as the pool.
    :ivar alike: the fact that its resources share with others of the lease; None: no such rule.
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
    :ivar starts_now: True if the lease starts with the request, not later.
    :ivar before: the Reservation whose request is to be replaced; None for a new one.
    :ivar caller: the RequestContext of the request, for calls with the token of the caller; None:
        no request is being answered.
    :ivar depends_on: {label: resource type} of the reservations that a new reservation depends on.
    """

    project_id: str
    starts_now: bool = True
    before: records.Reservation | None = None
    caller: Any = None
    depends_on: Mapping[str, str] = dataclasses.field(default_factory=dict)


class ResourcePlugin(targets.LeasesTargets, early.CreatesEarly, audited.Audited,
                     measured.Measured, abc.ABC):
    """The plugin of one resource type: it checks requests, and starts and ends reservations.

    One instance serves all threads of a manager. A plugin never opens the database.

    The methods `prepare`, `stage`, `start`, `before_end`, `secure` and `end` share these
    parameters:

    * `cloud` is a ``plugins.cloud.LeaseCloud``. Create with ``as_user()`` everything that belongs
      to the user; it raises TrustDead if Climate cannot act for the owner. Use
      ``as_owner_or_service()`` only to remove objects.
    * `lease` and `reservation` are Records as they are now.
    * `resources` is {need key: the Resources allocated for that need, each once, as a tuple}, with
      every key of `needs`.

    Each of them may raise TargetGone if the leased target does not exist any more. Then the
    reservation is over.
    """

    #: The name of the type in requests, and of the plugin in setup.cfg.
    resource_type: ClassVar[str] = ''
    #: JSON schema of a request at the newest REST version; closed.
    schema: ClassVar[dict[str, Any]] = {}
    #: The fields of a resolved request that may be large, or have passwords or keys. They are
    #: stored separately until the reservation is active, and no log, answer, list or notification
    #: has them. Only `resolve` gets them in the request; `prepare`, `stage` and `start` get them
    #: from ``cloud.whole_request``.
    secret_fields: ClassVar[frozenset[str]] = frozenset()
    #: A request that the schema admits, shown in the documentation.
    example: ClassVar[Request] = {}
    #: The Pool classes that the plugin draws from.
    pools: ClassVar[tuple[type[Pool], ...]] = ()
    #: The names of the adapters that the plugin itself uses, in addition to those of its pools.
    services: ClassVar[tuple[str, ...]] = ()
    #: oslo.config options, registered in a group with the name of the type.
    options: ClassVar[tuple[cfg.Opt, ...]] = ()
    #: Whether `end` may delete servers: it then waits for `secure` of the other reservations.
    ends_servers: ClassVar[bool] = False
    #: Whether needs of the type may have `alike`.
    ties = False

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf

    @classmethod
    def asked(cls, request: Request) -> Request:
        """Return the part of a resolved request that a client may send, to be checked again."""
        return request

    def resolve(self, cloud: clouds.Cloud, request: Request, occasion: Occasion) -> Request:
        """Add to a request all facts of the cloud that it needs; return its stored form.

        Only reads the cloud. It is called before the transaction, also with a request that was
        resolved before.

        :param occasion: the Occasion of the request.
        :raises BadRequest: the request is invalid.
        :raises Conflict: a running reservation cannot be changed in this way.
        """
        return request

    def secret_texts(self, secrets: Mapping[str, Any]) -> Iterable[str]:
        """Return the texts that no message may have: by default all in `secret_fields`. Pure.

        Climate masks them in errors before it stores these, and cuts long messages afterwards. So
        raise errors with the whole message of the cloud.

        :param secrets: the secret fields of a request, {name: value}; None where it has none.
        """
        return values.texts_in(secrets)

    def needs_owner(self, request: Request) -> tuple[str, str] | None:
        """Return the field of a resolved request that Climate can serve only as the owner. Pure.

        If there is one, a lease whose owner cannot delegate is refused with the field's name.

        :returns: (name of the field, why, in words that begin a sentence), or None.
        """
        return None

    def joins(self, cloud: clouds.Cloud, reservation: records.Reservation
              ) -> requirement.Requirement:
        """Return criteria for further resources of a reservation, in addition to its own.

        They depend on the objects of the reservation in the cloud. Only reads the cloud.
        """
        return requirement.NOTHING

    def redelegates(self, request: Request) -> bool:
        """Return True if a service needs a trust of its own to serve a resolved request. Pure.

        The trust of the lease is then redelegable, and ``cloud.as_user_redelegated()`` works.
        """
        return False

    @abc.abstractmethod
    def needs(self, request: Request) -> Sequence[Need]:
        """Return the Needs of a resolved request, each with its own key. Pure.

        Several may use one pool.
        """

    def schedules_in_start(self, reservation: records.Reservation) -> bool:
        """Return True if `start` has servers placed on the hosts of the reservation. Pure.

        Nova's scheduler then admits them before the reservation is active, as when a stack is
        created there or a server is unshelved.
        """
        return False

    def prepares(self, request: Request) -> bool:
        """Return True if `prepare` is to be called before the start. Pure."""
        return False

    def prepare(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                reservation: records.Reservation, resources: Allocated) -> dict[str, Any] | None:
        """Prepare the start, such as by powering on a host or shelving a server. Repeatable.

        Called soon after the lease was created; returns the binding, as `start` does.

        :raises StillBusy: it is not done yet; to be called again in a moment.
        """

    def stages(self, request: Request) -> bool:
        """Return True if `stage` is to be called before the start. Pure."""
        return False

    def stage(self, cloud: clouds.LeaseCloud, lease: records.Lease,
              reservation: records.Reservation, resources: Allocated) -> dict[str, Any] | None:
        """Create the objects of `start` that nobody can use or see before it. Repeatable.

        Called in the last minutes before the start, and again if the request changes. `start` must
        work without it, and `end` must remove these objects. Returns the binding, as `start` does.
        """

    @abc.abstractmethod
    def start(self, cloud: clouds.LeaseCloud, lease: records.Lease,
              reservation: records.Reservation, resources: Allocated) -> dict[str, Any]:
        """Hand over exactly `resources`; return the binding, the ids of the objects, as a dict.

        Repeatable. It is also called when the resources of a running reservation change; it then
        removes everything that is not in `resources` any more. ``cloud.attempt.former`` has the
        former resources, even if somebody removed their objects from the cloud.

        :raises StillBusy: not yet; to be called again in a moment.
        :raises ResourcesRefused: the cloud refuses some of `resources`, which the error names, and
            the reservation has nothing there. Climate then calls it again with others.
        """

    def before_end(self, cloud: clouds.LeaseCloud, lease: records.Lease,
                   reservation: records.Reservation, resources: Allocated) -> None:
        """Carry out the owner's request for the time shortly before the end."""

    def secures(self, reservation: records.Reservation) -> bool:
        """Return True if the owner asked for `secure`. Pure."""
        return False

    def secure(self, cloud: clouds.LeaseCloud, lease: records.Lease,
               reservation: records.Reservation, resources: Allocated) -> None:
        """Secure data of servers that the end of other reservations may delete. Repeatable.

        Called at the end, before `end` of any reservation, with the parameters of `end`. As long
        as it fails, the lease keeps everything.

        :raises StillBusy: not yet; to be called again in a moment.
        """

    @abc.abstractmethod
    def end(self, cloud: clouds.LeaseCloud, lease: records.Lease, reservation: records.Reservation,
            resources: Allocated) -> None:
        """Remove everything; not found is success. Repeatable, also after half a `start`.

        It must find the objects by the reservation's id, not by the binding: a crash can happen
        after `start` and before its binding is stored.

        :param resources: exclusive resources that the reservation still occupies; and shared
            resources that are allocated to it, or that a change removed and that may still be in
            use.

        :raises StillBusy: not yet; to be called again in a moment.
        """

    @classmethod
    def fields(cls, reservation: records.Reservation) -> dict[str, Any]:
        """Return the type's own fields of a reservation in answers from REST 1.1 on, as a dict."""
        return {**reservation.request, **reservation.binding}

    @classmethod
    def shown(cls, reservation: records.Reservation) -> dict[str, Any]:
        """Return the type's own fields of a reservation in answers at REST 1.0, as a dict."""
        return cls.fields(reservation)
