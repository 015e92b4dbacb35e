# SPDX-License-Identifier: Apache-2.0
"""The contract of a strategy."""
import abc


class Strategy(abc.ABC):
    """Says what it costs to clear a host; of all choices of hosts the cheapest is cleared.

    A strategy is an entry point of the namespace climate.acquire.strategies; requests and
    [acquire] migration_strategy name it as the entry point is called. One instance serves all
    threads of a manager. It decides by what it is given and reads nothing else.
    """

    def __init__(self, conf):
        """Keep the configuration.

        :param conf: with the group [acquire].
        """
        self.conf = conf

    @abc.abstractmethod
    def cost(self, host):
        """What it costs to clear a host: a tuple of numbers, always of the same length.

        The costs of the hosts of a plan are added place by place; the plan whose first number is
        the least is taken, of equal ones that with the least second number, and so on.

        :param host: a ``climate.domain.clearing.Host``; each of its servers says what it takes,
            whether it is running, and how much memory it has.
        """
