# SPDX-License-Identifier: Apache-2.0
"""The configuration of the release notes: sphinx-build releasenotes/source releasenotes/build."""

project = 'Climate release notes'
copyright = 'the Climate contributors'
extensions = ['openstackdocstheme', 'reno.sphinxext']
root_doc = 'index'
html_theme = 'openstackdocs'
openstackdocs_auto_name = False
openstackdocs_auto_version = False
