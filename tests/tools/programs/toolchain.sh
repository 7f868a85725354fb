# A python3 that PATH finds below the home directory, as pyenv puts it there.
# needs python3: no python3 here
# home: real
# vague: *.pyc
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    python3 -c 'import sys, json, ssl, sqlite3, ctypes; print(sys.version); print(sys.prefix)'
    echo 'import json; print(json.dumps({"a": 1}))' >script.py
    python3 script.py
    python3 -m venv --without-pip env
    env/bin/python -c 'print("from the environment")'
}

outside()
{
    python3 -c 'import os; print(open(os.environ["OUT"] + "/secret").read())'
}
