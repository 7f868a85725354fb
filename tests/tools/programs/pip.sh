# A wheel made here goes into a virtual environment, without any network.
# needs pip3: package python3-pip
# vague: *.pyc
# vague: */RECORD
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

make_wheel()
{
    cat >wheel.py <<'END'
import zipfile
info = 'hello-1.0.dist-info/'
with zipfile.ZipFile('hello-1.0-py3-none-any.whl', 'w') as wheel:
    def add(name, text):
        wheel.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), text)
    add('hello/__init__.py', 'def main():\n    print("hello from", __name__)\n')
    add(info + 'METADATA', 'Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n')
    add(info + 'WHEEL', 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    add(info + 'entry_points.txt', '[console_scripts]\nhello = hello:main\n')
    add(info + 'RECORD', '')
END
    python3 wheel.py
}

inside()
{
    make_wheel
    python3 -m venv --without-pip env
    pip() { python3 -m pip --python env --disable-pip-version-check --no-input "$@"; }
    pip install --no-index ./hello-1.0-py3-none-any.whl
    env/bin/hello
    pip list --format=freeze
    pip uninstall -q -y hello 2>&1
    python3 -m pip install -q --no-index --target lib ./hello-1.0-py3-none-any.whl 2>&1
    PYTHONPATH=lib python3 -c 'import hello; hello.main()'
}

outside()
{
    make_wheel
    python3 -m pip install -q --no-index --target "$OUT/lib" ./*.whl
}
