# For the shell tests, which begin with `. "$TOP/tests/tools/lib.sh"` and end with `summary`.
# tests/run sets TOP, the source tree, and BUILD, the directory of the products, and says what the
# lines printed here mean. $tmp is a directory of the test's own, which goes when it ends.
# shellcheck shell=sh
set -u
: "${TOP:?}" "${BUILD:?}"

passed=0 failed=0 skipped=0
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT PIPE TERM

pass() # NAME
{
    passed=$((passed + 1))
    echo "PASS $1"
}

fail() # NAME WHY
{
    failed=$((failed + 1))
    echo "FAIL $1: $2"
}

skip() # NAME REASON: "package NAME" for what Debian can install
{
    skipped=$((skipped + 1))
    echo "SKIP $1: $2"
}

# Ends the test where there is no shim to be tried, or none that programs as they are can load.
need_shim() # NAME
{
    if [ ! -e "$BUILD/libcordon-shim.so" ]; then
        skip "$1" "no shim was built"
    elif [ -n "${SANITIZE-}" ]; then
        skip "$1" "a sanitized shim cannot be loaded into programs that are not"
    elif grep -q libgcov "$BUILD/libcordon-shim.so"; then
        skip "$1" "a counting shim writes where it may not"
    else
        return
    fi
    summary
    exit
}

# Passes if the command succeeds, and shows its output if it does not.
check() # NAME COMMAND...
{
    name=$1
    shift
    if output=$("$@" 2>&1); then
        pass "$name"
    else
        fail "$name" "exit status $? of $*"
        [ -z "$output" ] || printf '%s\n' "$output" | sed 's/^/    /'
    fi
}

summary()
{
    echo "Pass: $passed, fail: $failed, skip: $skipped."
    [ $failed -eq 0 ]
}
