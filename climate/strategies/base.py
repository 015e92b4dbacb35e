# SPDX-License-Identifier: Apache-2.0
"""The contract of a strategy."""
import abc


class Strategy(abc.ABC):
    """The cost of clearing a host. Climate clears the cheapest choice of hosts.

    A strategy is an entry point of the namespace climate.acquire.strategies. Requests and
    [acquire] migration_strategy use the name of the entry point. One instance serves all threads
    of a manager. It may use only its arguments and the configuration.
    """

    def __init__(self, conf):
        """Store the configuration.

        :param conf: the configuration, with the group [acquire].
        """
        self.conf = conf

    @abc.abstractmethod
    def cost(self, host):
        """Return the cost of clearing a host, as a tuple of numbers of a fixed length.

        The costs of the hosts of a plan are added number by number, and the sums are compared as
        tuples: the plan with the least sum wins.

        :param host: a ``climate.domain.clearing.choice.ClearableHost``; each of its servers has its
            resources, whether it is running, and its memory.
        """
