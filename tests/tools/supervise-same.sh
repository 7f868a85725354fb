# Calls of a static program whose results hang on who makes them: the supervisor makes them for it, and
# they have to come out as without cordon.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"
need_shim supervise-same

tmp=$(readlink -f "$tmp")
chmod 755 "$tmp"
programs=$BUILD/tests/supervise

in_fresh() # COMMAND...
{
    rm -rf "$tmp/ws"
    mkdir "$tmp/ws"
    (cd "$tmp/ws" && timeout 60 "$@" </dev/null)
}

same() # BACKEND OPTIONS...
{
    backend=$1
    shift
    in_fresh "$programs/same" >"$tmp/bare" || return
    in_fresh "$BUILD/cordon" run -q -b "$backend" -r "$programs" "$@" -- "$programs/same" >"$tmp/inside" || return
    diff "$tmp/bare" "$tmp/inside" && [ "$(wc -l <"$tmp/bare")" -gt 50 ]
}

check "landlock" same landlock
check "landlock --strict" same landlock --strict
summary
