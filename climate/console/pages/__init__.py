# SPDX-License-Identifier: Apache-2.0
"""The pages: each asks climate-api and fills a template."""
