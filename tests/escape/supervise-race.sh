#!/bin/sh
# Races against the supervisor: a static program whose one thread makes calls while the other changes
# what they name: the path in memory, a descriptor's number, the working directory, a link, a socket's
# address. Nothing that is denied may be reached. Against a supervisor that looks and then lets the
# call go on the same program gets through.
#
# FLIP_CALLS tries in all; a tenth of them with bwrap.
. "$TOP/tests/tools/lib.sh"
need_shim supervise-race

CALLS=${FLIP_CALLS:-200000}
flip=$BUILD/tests/supervise/flip
serve='' words=''
trap '[ -z "$serve" ] || kill "$serve"; rm -rf "$tmp"' EXIT
tmp=$(readlink -f "$tmp")

build_tree()
{
    rm -rf "$tmp/t/a" "$tmp/t/b" "$tmp/t/ro"
    mkdir -p "$tmp/t/a/d" "$tmp/t/a/n" "$tmp/t/a/e" "$tmp/t/b" "$tmp/t/ro"
    for file in ok f d/f; do
        echo inside >"$tmp/t/a/$file"
    done
    # What is denied: its size and its attribute give it away. Not all file systems have those.
    python3 - "$tmp/t" <<'END'
import os, sys
for name in ("a/no", "a/n/f", "a/e/f", "out", "b/f", "ro/s"):
    path = os.path.join(sys.argv[1], name)
    with open(path, "w") as file:
        file.write("o" * 4242)
    try:
        os.setxattr(path, "user.flip", b"secret")
    except OSError:
        pass
END
    cp "$flip" "$tmp/t/a/x1"
    cp "$flip" "$tmp/t/a/x2"
    echo longer >>"$tmp/t/a/x2"
    cp "$tmp/t/a/x2" "$tmp/t/x2"
    [ -z "$serve" ] || ln "$tmp/t/s.inside" "$tmp/t/a/s"
    ln -s ok "$tmp/t/a/l1"
    ln -s no "$tmp/t/a/l2"
}

# All that is not to be touched, and nothing else.
digest()
{
    find "$tmp/t" \( -path "$tmp/t/a" -o -path "$tmp/t/a/d" \) -prune -o \
        -printf '%P %y %m %U %G %s %n %T@ %C@\n' | sort
    (cd "$tmp/t/a" && find no n e x2 -printf '%P %y %m %U %G %s %n %T@ %C@\n' | sort)
    (cd "$tmp/t" && cat a/no a/n/f a/e/f out b/f ro/s 2>/dev/null | cksum)
}

word() # NAME: the number after it
{
    sed -n "s/^calls.*\\b$1 \\([0-9]*\\).*/\\1/p; s/^$1 \\([0-9]*\\) .*/\\1/p" "$tmp/words"
}

race() # SUITE CALLS COMMAND...: what runs it
{
    suite=$1 calls=$2
    shift 2
    build_tree
    digest >"$tmp/before"
    # shellcheck disable=SC2086 # words
    (cd "$tmp/t/a" && exec timeout 300 "$@" "$flip" "$suite" "$calls" ${words:-$tmp/t}) >"$tmp/words" 2>"$tmp/stderr"
    status=$?
    digest >"$tmp/after"
}

confined() # BACKEND OPTIONS...
{
    backend=$1
    shift
    set -- "$BUILD/cordon" run -q -b "$backend" -r "$BUILD/tests" -r "$tmp/t/ro" \
        -d "$tmp/t/ro/s" -d "$tmp/t/a/no" -d "$tmp/t/a/n" -d "$tmp/t/a/e/f" -d "$tmp/t/a/x2" "$@" --
    confine=$*
}

# Some calls have to go through and some have to be refused: else there was no race.
holds() # NAME SUITE CALLS
{
    # shellcheck disable=SC2086 # no path here holds a blank
    race "$2" "$3" $confine
    echo "    $1: $(tail -n 1 "$tmp/words")"
    if [ "$status" -ne 0 ] || [ -z "$(word calls)" ]; then
        fail "$1" "status $status: $(head -c 300 "$tmp/words") $(head -c 300 "$tmp/stderr")"
    elif [ "$(word leaks)" -ne 0 ]; then
        fail "$1" "$(grep '^leak' "$tmp/words" | head -n 5 | tr '\n' ';')"
    elif ! cmp -s "$tmp/before" "$tmp/after"; then
        fail "$1" "changed: $(diff "$tmp/before" "$tmp/after" | head -n 4)"
    elif [ "$(word ok)" -lt $(($3 / 100)) ] || [ "$(word refused)" -lt $(($3 / 100)) ]; then
        fail "$1" "no race: $(tail -n 1 "$tmp/words")"
    else
        pass "$1"
    fi
}

# Until it gets through: on a busy machine the two threads rarely run at once.
leaks_naively() # SUITE CALLS LEAK
{
    rounds=50
    while
        race "$1" "$2" "$BUILD/tests/supervise/naive" no n/ e/ ../ "$tmp/t/b" x2 --
        rounds=$((rounds - 1))
        ! grep -q "^leak $3" "$tmp/words" && [ $rounds -gt 0 ]
    do
        :
    done
    echo "    control $1: $(tail -n 1 "$tmp/words")"
    if grep -q "^leak $3" "$tmp/words"; then
        pass "control: look and let go on, $1"
    else
        fail "control: look and let go on, $1" "$(tail -n 1 "$tmp/words") $(head -c 300 "$tmp/stderr")"
    fi
}

leaks_naively paths 20000 .
if cmp -s "$tmp/before" "$tmp/after"; then
    fail "control: it changes what it may not" "nothing was changed"
else
    pass "control: it changes what it may not"
fi
words=../x2
leaks_naively run 300 .
words=

confined landlock
holds "landlock, paths" paths $((CALLS * 60 / 100))
holds "landlock, descriptors" descriptors $((CALLS * 20 / 100))
words=../x2
holds "landlock, running what is outside" run $((CALLS / 100))
# The caller itself runs the program, and no wall of Landlock's is around what is denied in there: that
# is held with --strict, as all is that a program who forges the shim's calls can do.
words=x2
# shellcheck disable=SC2086 # words
race run $((CALLS / 200)) $confine
echo "    landlock, running what is denied inside (not held): $(tail -n 1 "$tmp/words")"
words=
confined landlock --strict
holds "landlock --strict, paths" paths $((CALLS * 10 / 100))
words=x2
holds "landlock --strict, running what is denied inside" run $((CALLS / 200))
words=
if "$BUILD/cordon" run -b bwrap -C "$tmp" -- true 2>"$tmp/why"; then
    confined bwrap
    holds "bwrap, paths" paths $((CALLS * 7 / 100))
    holds "bwrap, descriptors" descriptors $((CALLS * 3 / 100))
    words=x2
    holds "bwrap, running what is denied inside" run $((CALLS / 400))
    words=
else
    skip bwrap "$(head -n 1 "$tmp/why")"
fi

# Addresses: a path and a port that may be connected to change with others that may not. Who was
# connected is told by those who were.
connects() # BACKEND
{
    mkfifo "$tmp/said"
    mkdir -p "$tmp/t"
    "$BUILD/tests/supervise/serve" "$tmp/t/s.inside" "$tmp/t/s" >"$tmp/said" &
    serve=$!
    exec 3<"$tmp/said"
    read -r words <&3
    if [ "$1" = naive ]; then
        leaks_naively connect 2000 "connect \.\./s"
    else
        confined "$1" -u "$tmp/t/a/s" -n "loopback:${words% *}"
        holds "$1, addresses" connect $((CALLS * 5 / 100))
    fi
    kill "$serve"
    wait "$serve"
    serve=
    read -r came <&3
    exec 3<&-
    rm "$tmp/said"
    words=
    # The first path, the second one, the first port and the second one.
    # shellcheck disable=SC2086 # words
    set -- "$1" $came
    if [ "$1" != naive ] && [ "$2 $4" != "0 0" ] && [ "$3 $5" = "0 0" ]; then
        pass "$1, addresses: nobody came to the wrong one"
    elif [ "$1" = naive ] && [ "$3" -gt 0 ] && [ "$5" -gt 0 ]; then
        pass "control: somebody came to the wrong one"
    else
        fail "$1, addresses: who came" "$came"
    fi
}
connects naive
connects landlock
[ ! -s "$tmp/why" ] && connects bwrap
summary
