# SPDX-License-Identifier: Apache-2.0
"""Run commands of a virtualenv, each in a fork of a process that has imported their modules.

Each line of the input is one command, {"words": [path, argument, …], "environment": {…}}. The
answer to it is one line, {"code", "out", "err"}.
"""
import importlib
import json
import os
import runpy
import sys
import tempfile
import traceback


def run(words, environment):
    """Run a command in a child process; return its exit code, its output and its errors."""
    with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as err:
        child = os.fork()
        if not child:
            os._exit(_inside(words, environment, out, err))
        _, status = os.waitpid(child, 0)
        texts = {}
        for name, file in (('out', out), ('err', err)):
            file.seek(0)
            texts[name] = file.read()
        return {'code': os.waitstatus_to_exitcode(status), **texts}


def _inside(words, environment, out, err):
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    os.environ.update(environment)
    sys.argv = words
    try:
        runpy.run_path(words[0], run_name='__main__')
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def main():
    """Import the modules that the arguments name, then answer until the input ends."""
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


if __name__ == '__main__':
    main()
