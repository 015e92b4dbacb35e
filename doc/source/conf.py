# SPDX-License-Identifier: Apache-2.0
"""How the documentation is built: sphinx-build -W doc/source doc/build/html."""
import shutil

project = 'Climate'
copyright = 'the Climate contributors'
root_doc = 'index'
exclude_patterns = ['contributor/examples']

extensions = ['openstackdocstheme', 'sphinx.ext.graphviz']
html_theme = 'openstackdocs'
# The theme reads names and versions from a METADATA file or from git where it is not told to leave it.
openstackdocs_auto_name = False
openstackdocs_auto_version = False
openstackdocs_pdf_link = False
html_theme_options = {'display_badge': False, 'show_other_versions': False}

graphviz_output_format = 'svg'
if shutil.which('dot'):
    # Pictures are drawn only where there is something to draw them with; see contributor/states.rst.
    tags.add('dot')  # noqa: F821 (Sphinx puts it here)
