# SPDX-License-Identifier: Apache-2.0
"""The configuration of Sphinx: sphinx-build -W doc/source doc/build/html."""
import pathlib
import shutil

project = 'Climate'
copyright = 'the Climate contributors'
root_doc = 'index'
exclude_patterns = ['contributor/examples']
extensions = ['sphinx.ext.graphviz']

if shutil.which('git') and (pathlib.Path(__file__).parents[2] / '.git').exists():
    extensions.append('openstackdocstheme')
    html_theme = 'openstackdocs'
    html_theme_options = {'display_badge': False, 'show_other_versions': False}
    # Otherwise the theme reads name and version from a METADATA file or from git.
    openstackdocs_auto_name = False
    openstackdocs_auto_version = False
    openstackdocs_pdf_link = False
else:
    # That theme warns where it finds no commit to name, as in an unpacked archive.
    html_theme = 'alabaster'

graphviz_output_format = 'svg'
if shutil.which('dot'):
    # Drawn only where there is something to draw with; see contributor/states.rst.
    tags.add('dot')  # noqa: F821 (Sphinx puts it here)
