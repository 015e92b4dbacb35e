# SPDX-License-Identifier: Apache-2.0
"""Points of the simulated cloud, before and after each call, at which tests act."""


def once_at(cloud, call, deed, when='before'):
    """Do something once, at the next such call; return a list that is empty until then."""
    done = []

    def on_point(*point):
        if point == (call, when) and not done:
            done.append(point)
            deed()
    cloud.faults.on_point = on_point
    return done


def calls(cloud):
    """Return the names of the calls from now on, as a list that grows."""
    made = []
    cloud.faults.on_point = lambda name, when: made.append(name) if when == 'before' else None
    return made
