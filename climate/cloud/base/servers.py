# SPDX-License-Identifier: Apache-2.0
"""The face of Nova: what becomes of single servers."""
import abc


class Servers(abc.ABC):
    """What becomes of single servers: asleep, awake, moved, gone. Nova keeps them.

    A change is begun and goes on by itself: look at the server again for how it went. Where Nova
    refuses a change for the state that the server is in, StillBusy says so; a server that is not
    there (any more) is ServerNotFound.
    """

    service = 'Nova'

    @abc.abstractmethod
    def server(self, server_id):
        """The Server with its flavor, or None; as a user, one that this user may see.

        One that is deleted, also softly, is not there, although Nova shows it to an administrator.
        """

    @abc.abstractmethod
    def marked(self, project_id, key, text):
        """The Servers of a project whose metadata says so, oldest first; as the service only."""

    @abc.abstractmethod
    def ids(self):
        """The ids of the servers of all projects, as a frozenset; as the service only."""

    @abc.abstractmethod
    def every(self):
        """The Servers of all projects, as a list in no promised order; as the service only."""

    @abc.abstractmethod
    def mark(self, server_id, metadata):
        """Set the keys of `metadata`, and remove those whose value is None; others stay.

        Nova allows it while a server is ACTIVE, PAUSED, SUSPENDED or SHUTOFF, whatever is done to
        it just then.

        :raises ServerNotFound: there is no such server.
        :raises StillBusy: not in this state; where all is as it should be already, in none.
        """

    @abc.abstractmethod
    def shelve(self, server_id):
        """Begin to shelve. As a user, for the image that it sleeps in is the caller's.

        :raises StillBusy: not in this state (it is being built, it is shelved).
        """

    @abc.abstractmethod
    def offload(self, server_id):
        """Begin to take a shelved server from its host; as the service only.

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def unshelve(self, server_id, service_host=None):
        """Begin to wake a shelved server; as the service, on that host, whatever its zone.

        :param service_host: None: wherever Nova finds room.
        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def suspend(self, server_id):
        """Begin to suspend.

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def unrescue(self, server_id):
        """Begin to boot a server that is in RESCUE from its own disk again.

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def stop(self, server_id):
        """Begin to stop a server, also one in ERROR that is on a host.

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def migrate(self, server_id, service_host=None):
        """Begin to move a server; as the service only.

        A running one is moved alive; a stopped one is moved and its new place confirmed when
        this is called again. (Nova cannot move one that is suspended.) Where the scheduler
        refuses the host, or the move fails later, nothing is said here: see `last_move`.

        :param service_host: where to; None: to a host of Nova's choice.
        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def last_move(self, server_id):
        """The Move of a server that was begun last, or None; as the service only.

        A move that the scheduler refused is among them; one that Nova never accepted is not.
        """

    @abc.abstractmethod
    def failures(self, server_id, change, since):
        """How many changes of that kind have failed since a moment; as the service only.

        Nova says of them nothing on the server itself.

        :param change: 'unshelve', 'stop' or 'migrate'.
        :param since: a moment, as the database's clock has it.
        """

    @abc.abstractmethod
    def create_image(self, server_id, name, key):
        """Begin to make an image of a server; it keeps `key`, by which ``Images.made`` finds it.

        A name that is too long for an image is cut.

        :raises StillBusy: not in this state, or another image is being made.
        """
