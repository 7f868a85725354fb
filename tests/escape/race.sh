#!/bin/sh
# Races through the hooks: an unmodified program makes calls on paths inside its workspace, while
# somebody outside swaps a directory on the way with links that lead outside. With the shim alone
# nothing outside may be read or changed; without it the same calls go astray.
. "$TOP/tests/tools/lib.sh"

CALLS=${RACE_CALLS:-50000}
race=$BUILD/tests/escape/race
swapper=

build_tree()
{
    rm -rf "$tmp/ws" "$tmp/out"
    mkdir -p "$tmp/ws/dir" "$tmp/ws/q" "$tmp/out/dir/marker" "$tmp/out/dir/new"
    echo inside >"$tmp/ws/dir/f"
    echo inside >"$tmp/ws/file"
    echo outside >"$tmp/out/dir/f"
    ln -s ../out/dir "$tmp/ws/alt"
    ln -s "$tmp/out/dir" "$tmp/ws/absolute"
    ln -s dir "$tmp/ws/hop"
}

digest()
{
    find "$tmp/out" -printf '%P %y %m %U %G %s %n %T@ %C@\n' | sort
    find "$tmp/out" -type f -exec cksum {} +
}

# Leaves the victim's words in $words and the digests in files.
race() # COMMAND...: what runs the victim
{
    build_tree
    digest >"$tmp/before"
    (cd "$tmp/ws" && exec "$race" swap) >"$tmp/swaps" &
    swapper=$!
    words=$(cd "$tmp/ws" && "$@" "$race" victim "$CALLS" 2>"$tmp/stderr")
    status=$?
    kill "$swapper"
    wait "$swapper"
    swapper=
    digest >"$tmp/after"
}
trap '[ -z "$swapper" ] || kill "$swapper"; rm -rf "$tmp"' EXIT

word() # NAME: the number after it
{
    echo "$words" | sed -n "s/.*\\b$1 \\([0-9]*\\).*/\\1/p"
}

# Some calls have to go through and some have to be refused: else there was no race.
holds() # NAME COMMAND...
{
    name=$1
    shift
    race "$@"
    if [ "$status" -ne 0 ] || [ "$(word calls)" != "$CALLS" ]; then
        fail "$name" "status $status: $words $(head -c 300 "$tmp/stderr")"
    elif [ "$(word leaks)" -ne 0 ]; then
        fail "$name" "read outside: $words"
    elif ! cmp -s "$tmp/before" "$tmp/after"; then
        fail "$name" "changed outside: $(diff "$tmp/before" "$tmp/after" | head -n 4)"
    elif [ "$(word ok)" -lt 100 ] || [ "$(word refused)" -lt 100 ] || [ "$(cat "$tmp/swaps")" -lt 1000 ]; then
        fail "$name" "no race: $words, $(cat "$tmp/swaps") swaps"
    else
        pass "$name"
    fi
}

race env
if [ "$(word leaks)" -gt 0 ] && ! cmp -s "$tmp/before" "$tmp/after"; then
    pass "without cordon the victim is led astray"
else
    fail "without cordon the victim is led astray" "$words"
fi

holds "by hand, with the shim alone" \
    env "LD_PRELOAD=$BUILD/libcordon-shim.so" "CORDON_ROOT=$tmp/ws" "CORDON_READ=$BUILD" CORDON_BACKEND=native
holds "run, with the shim alone" \
    "$BUILD/cordon" run -q -C "$tmp/ws" -b native -r "$BUILD" --
holds "run, with landlock" \
    "$BUILD/cordon" run -q -C "$tmp/ws" -b landlock -r "$BUILD" --
summary
