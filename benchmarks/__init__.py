# SPDX-License-Identifier: Apache-2.0
"""How long things take; each module is run by its name and prints its figures."""
