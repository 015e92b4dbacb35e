# SPDX-License-Identifier: Apache-2.0
"""The console: pages for browsers. It talks REST to climate-api as the user, and nothing else."""
