# SPDX-License-Identifier: Apache-2.0
"""Tables of numbers as CSV, for what climate-api answers as JSON only."""
import csv
import io
import re

import flask

# A spreadsheet takes a cell that begins with one of these for a formula.
_FORMULA = ('=', '+', '-', '@', '\t', '\r')
_NUMBER = re.compile(r'-?\d+(\.\d+)?')


def as_csv(name, columns, rows):
    """Answer with a table (RFC 4180), which the browser saves.

    :param name: the name of the file without ".csv".
    :param columns: the names of the columns.
    :param rows: mappings {column: value}; an absent value is an empty cell.
    """
    text = io.StringIO(newline='')
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_harmless(row.get(column)) for column in columns])
    return flask.Response(text.getvalue(), mimetype='text/csv', headers={
        'Content-Disposition': f'attachment; filename="{name}.csv"'})


def _harmless(value):
    """Return a cell that no spreadsheet runs as a formula."""
    is_formula = (isinstance(value, str) and value.startswith(_FORMULA)
                  and not _NUMBER.fullmatch(value))
    return f"'{value}" if is_formula else value
