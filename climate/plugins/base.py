# SPDX-License-Identifier: Apache-2.0
"""The contracts of a pool and of a resource plugin, each method with its promise."""
import abc
import dataclasses
import datetime
import re

from climate import errors
from climate.domain import fit
from climate.domain import records
from climate.domain import requirement
from climate.plugins import audited
from climate.plugins import things


@dataclasses.dataclass(frozen=True)
class Found:
    """What the cloud says of a resource that is being enrolled or looked at again.

    :ivar name: how the pool calls it: exact, unique in the pool.
    :ivar capacity: {class name: units}.
    :ivar facts: {name: text}; criteria can use them, operators cannot change them.
    """

    name: str
    capacity: dict
    facts: dict


class Pool(abc.ABC):
    """Where resources come from. One instance serves all threads of a manager."""

    #: The noun in URLs and tables.
    name = None
    #: Names under which criteria reach the capacity: {criterion name: class name}.
    capacity_names = {}
    #: The names of the facts that `discover` gives.
    fact_names = ()
    #: Facts that begin so are there too, one for each thing of a kind.
    fact_prefixes = ()
    #: The criterion name of the resource's own name.
    name_fact = 'name'

    def __init__(self, conf):
        self.conf = conf

    @abc.abstractmethod
    def discover(self, cloud, name):
        """What the cloud says of the resource `name`, as a Found. Reads only.

        :raises HostNotFound: the cloud has none of that very name.
        """

    def survey(self, cloud, resources):
        """What the cloud says now of resources that are enrolled: {name: Found}. Reads only.

        Those that the cloud does not know (any more) are not in it. A fact that only a lease
        makes what it is, stays as it is in `resources`.
        """
        found = {}
        for resource in resources:
            try:
                found[resource.name] = self.discover(cloud, resource.name)
            except (errors.HostNotFound, errors.HostAmbiguous):
                continue
        return found

    def failing(self, cloud, resources):
        """{id: why, in words} of those of the Resources on which nothing can be started now.

        Reads only.
        """
        return {}

    def admit(self, cloud, found):
        """Take the resource out of ordinary use. Repeatable.

        :raises HostInUse: it cannot be taken now, and nothing was changed.
        """

    def dismiss(self, cloud, resource):
        """Give the resource back to ordinary use. Repeatable; not found is done.

        :raises HostInUse: somebody still uses it.
        """

    def mend(self, cloud, resource):
        """Put back what an enrolled resource lacks in the cloud. Repeatable.

        One that a reservation holds stays where it is.

        :raises HostInUse: it cannot be put back now.
        """

    def audit(self, picture, resources, enrolled):
        """The Drifts of the pool itself, whoever has leased its resources. Pure.

        :param picture: the cloud as ``manager.picture.Picture`` shows it.
        :param resources: the enrolled Resources that may be compared.
        :param enrolled: the names of all that are enrolled.
        """
        return []


@dataclasses.dataclass(frozen=True)
class Need:
    """What a reservation draws from one pool: how much, and what the resources must be like.

    :ivar optional: the reservation is made without it where there is no room.
    """

    pool: str
    demand: fit.Demand
    requirement: requirement.Requirement
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Occasion:
    """Under which circumstances something is asked for.

    :ivar project_id: the project that is to have it.
    :ivar starts_now: the lease begins with the request, not later.
    :ivar before: the Reservation whose request this is to replace; None for a new one.
    """

    project_id: str
    starts_now: bool = True
    before: records.Reservation | None = None


@dataclasses.dataclass(frozen=True)
class Attempt:
    """The try in which a plugin is called, for what must not go on for ever.

    :ivar now: this moment.
    :ivar since: when the action was first tried.
    :ivar failures: how many tries of it have failed before.
    """

    now: datetime.datetime
    since: datetime.datetime
    failures: int = 0


class ResourcePlugin(things.LeasesThings, audited.Audited, abc.ABC):
    """Knows one resource type: how it is asked for, and how it is handed over.

    One instance serves all threads of a manager. A plugin never opens the database.

    In `prepare`, `start`, `before_end` and `end`, `cloud` has ``as_service()`` and ``as_user()``,
    which give ``climate.cloud.base.Services``, and ``attempt``, an Attempt. `lease` and
    `reservation` are Records as they are now; `resources` the Resources that were promised, each
    once. Each of the four may raise ServerNotFound where the one thing in the cloud that the
    reservation leases is not there any more: then the reservation is over.
    """

    #: The name in requests, and of the plugin in setup.cfg.
    resource_type = None
    #: JSON schema of a request at the newest REST version; closed.
    schema = None
    #: A request that the schema admits, shown in the documentation.
    example = None
    #: The Pool classes that it draws from.
    pools = ()
    #: oslo.config options, registered in a group called as the type.
    options = ()

    def __init__(self, conf):
        self.conf = conf

    @classmethod
    def lenient(cls, request):
        """A request of REST 1.0 as the schema wants it: unknown keys dropped, "2" made 2."""
        known = cls.schema['properties']
        return {key: _lenient(value, known[key]) for key, value in request.items()
                if key in known}

    @classmethod
    def asked(cls, request):
        """Of a resolved request what a client may send, to be changed and checked anew."""
        return request

    def resolve(self, cloud, request, occasion):
        """The request with all that must be read from the cloud, to be stored. Reads only.

        Called before the transaction, also with a request that was resolved before.

        :param occasion: an Occasion: for whom, when, instead of what.
        :raises BadRequest: the request cannot be meant so.
        :raises Conflict: a reservation that runs cannot be changed so.
        """
        return request

    @abc.abstractmethod
    def needs(self, request):
        """The Needs of a resolved request, one for each pool it draws from. Pure."""

    def prepares(self, request):
        """True where `prepare` is to be called before the start. Pure."""
        return False

    def prepare(self, cloud, lease, reservation, resources):
        """Do what must be done before the start (wake a host, put a server to sleep). Repeatable.

        Called soon after the lease was made; returns the binding, as `start` does.

        :raises StillBusy: not yet; to be called again in a moment.
        """

    @abc.abstractmethod
    def start(self, cloud, lease, reservation, resources):
        """Hand over exactly `resources`; returns the binding, what the cloud made, as a dict.

        Repeatable; also called when the resources of a running reservation change: whatever is
        not in `resources` any more is taken back.

        :raises StillBusy: not yet; to be called again in a moment.
        """

    def before_end(self, cloud, lease, reservation, resources):
        """Do what the owner wants done shortly before the end."""

    @abc.abstractmethod
    def end(self, cloud, lease, reservation, resources):
        """Take everything back; not found is done. Repeatable, also after half a `start`.

        It finds what to undo by the reservation's id, not by the binding, because a crash can
        come between `start` and the writing of what it returned.

        :raises StillBusy: not yet; to be called again in a moment.
        """

    @classmethod
    def fields(cls, reservation):
        """The type's own fields of a reservation in an answer from REST 1.1 on, as a dict."""
        return {**reservation.request, **reservation.binding}

    @classmethod
    def shown(cls, reservation):
        """The type's own fields of a reservation in an answer at REST 1.0, as a dict."""
        return cls.fields(reservation)


_WHOLE_NUMBER = re.compile(r'\s*-?\d{1,18}\s*')


def _lenient(value, schema):
    kinds = schema.get('type', ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if 'integer' in kinds and isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return value
