# SPDX-License-Identifier: Apache-2.0
"""Real processes whose parts die, freeze and lose each other while clients lease hosts."""
