# A virtual environment, and programs started from it.
# needs python3: package python3
# vague: *.pyc
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    python3 -m venv --without-pip env
    # shellcheck source=/dev/null
    . env/bin/activate
    python -c 'import sys; print(sys.prefix != sys.base_prefix, sys.version_info[:2])'
    command -v python
    printf '#!%s/env/bin/python\nimport sys; print(sys.argv)\n' "$PWD" >script
    chmod 755 script
    ./script one 'two three'
    python -m venv --without-pip --copies env2
    env2/bin/python -c 'print("copied")'
    python -m venv --without-pip --clear env
    deactivate
}

outside()
{
    python3 -m venv --without-pip "$OUT/env"
}
