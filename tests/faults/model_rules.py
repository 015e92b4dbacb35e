# SPDX-License-Identifier: Apache-2.0
"""Rules of the model that count their steps, and models that make some of the steps only."""
import functools

from hypothesis import stateful


def rule(**drawn):
    """Declare a rule as ``stateful.rule`` does, and count each of its steps."""
    def as_rule(step):
        @functools.wraps(step)
        def counted(self, **arguments):
            self.taken[step.__name__] += 1
            step(self, **arguments)
        return stateful.rule(**drawn)(counted)
    return as_rule


@functools.cache
def only(model, names):
    """Return a subclass of a model that makes the steps of these names only."""
    steps = {each.function.__name__ for each in model.setup_state().rules}
    assert names <= steps, names - steps
    return type(f'Part of {model.__name__}', (model,), dict.fromkeys(steps - names))
