# Nothing is left behind: not after many runs, not after many at once, and not by a program that does
# all it can to stay, whether it ends or cordon is killed.
#
# RUNS runs one after the other (2000 is what is promised; as many as fit into SECONDS_MAX, 8, if it
# is not set) and 64 at once, with each backend. All that belongs to a run has a mark in its
# environment, by which it is found wherever it went.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"
need_shim storm

tmp=$(readlink -f "$tmp")
mkdir "$tmp/ws" "$tmp/home" "$tmp/tmp" "$tmp/runtime"
chmod 700 "$tmp/runtime"
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -o "$tmp/ws/storm" "$TOP/tests/tools/storm.c" || exit
mark=$tmp/mark
ls -lR "$tmp/ws" >"$tmp/before"

marked() # COMMAND...
{
    env -C "$tmp/ws" -i STORM="$mark" HOME="$tmp/home" PATH="$PATH" TMPDIR="$tmp/tmp" XDG_RUNTIME_DIR="$tmp/runtime" "$@"
}

# The processes that have the mark; one that ends meanwhile has none.
left()
{
    grep -lzxsF "STORM=$mark" /proc/[0-9]*/environ | cut -d/ -f3
}

# Within SECONDS nothing is left. A process that hops may be between two places in one look.
none_left() # SECONDS
{
    tries=$(($1 * 20))
    while [ -n "$(left)" ] || [ -n "$(left)" ]; do
        tries=$((tries - 1))
        if [ $tries -le 0 ]; then
            echo "$(left | wc -l) processes are left:"
            for pid in $(left); do
                tr '\0' ' ' <"/proc/$pid/cmdline"
                sed -n 's/^State/ &/p; s/^PPid/ &/p' "/proc/$pid/status" | tr '\n' ' '
                echo
            done | sort | uniq -c | head -n 10
            return 1
        fi
        sleep 0.05
    done
}

end_all()
{
    tries=200
    while [ -n "$(left)" ] && [ $tries -gt 0 ]; do
        # shellcheck disable=SC2046 # words
        kill -KILL $(left) 2>/dev/null
        tries=$((tries - 1))
    done
}
trap 'end_all; rm -rf "$tmp"' EXIT

# Neither files nor mounts. What cordon keeps between runs is a cache, and that lies in its place.
no_trace()
{
    # shellcheck disable=SC2012 # for eyes and diff
    ls -lR "$tmp/ws" | diff "$tmp/before" - &&
        ! find "$tmp/tmp" "$tmp/runtime" -mindepth 1 | grep . &&
        ! find "$tmp/home" -mindepth 1 ! -path "$tmp/home/.cache" ! -path "$tmp/home/.cache/cordon*" | grep . &&
        ! grep "$tmp" /proc/self/mountinfo
}

nothing_left() # NAME SECONDS
{
    check "$1: no process left" none_left "$2"
    check "$1: no trace left" no_trace
    end_all
}

# --- many -----------------------------------------------------------------------------------------

# Runs until the number or the time is reached, and says how many there were.
many_runs() # BACKEND
{
    count=0 wrong=0
    end=$(($(date +%s) + ${SECONDS_MAX:-8}))
    while [ $count -lt "${RUNS:-2000}" ] && { [ -n "${RUNS-}" ] || [ "$(date +%s)" -lt $end ]; }; do
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            marked "$BUILD/cordon" run -b "$1" -- true || wrong=$((wrong + 1))
        done
        count=$((count + 10))
    done
    echo "$count runs" >"$tmp/count"
    [ $wrong -eq 0 ] || echo "$wrong of $count runs failed"
    [ $wrong -eq 0 ]
}

at_once() # BACKEND
{
    pids=
    for _ in $(seq 64); do
        # shellcheck disable=SC2016 # the shell inside expands it
        marked "$BUILD/cordon" run -b "$1" -- sh -c 'echo x >$TMPDIR/file && sleep 0.3' &
        pids="$pids $!"
    done
    wrong=0
    for pid in $pids; do
        wait "$pid" || wrong=$((wrong + 1))
    done
    [ $wrong -eq 0 ] || echo "$wrong of 64 failed"
    [ $wrong -eq 0 ]
}

# --- a storm --------------------------------------------------------------------------------------

storm_that_ends() # BACKEND
{
    [ "$(marked timeout 60 "$BUILD/cordon" run -b "$1" -- ./storm 200 10)" = ready ]
}

# Kills cordon, and nothing but cordon, in the midst of it.
storm_that_is_killed() # BACKEND
{
    rm -f "$tmp/said"
    mkfifo "$tmp/said"
    # One process, so that $! is cordon's: env runs it in its own place.
    env -C "$tmp/ws" -i STORM="$mark" HOME="$tmp/home" PATH="$PATH" TMPDIR="$tmp/tmp" \
        XDG_RUNTIME_DIR="$tmp/runtime" "$BUILD/cordon" run -b "$1" -- ./storm 200 10 stay >"$tmp/said" &
    cordon=$!
    read -r line <"$tmp/said"
    kill -KILL $cordon
    wait $cordon 2>/dev/null
    [ "$line" = ready ]
}

control()
{
    [ "$(marked ./storm 20 2)" = ready ] && sleep 0.2 && [ "$(left | wc -l)" -ge 20 ]
}

check control_without_cordon_they_stay control
end_all
for backend in landlock bwrap; do
    if ! marked "$BUILD/cordon" run -b $backend -- true 2>"$tmp/why"; then
        if [ $backend = bwrap ] && ! command -v bwrap >/dev/null; then
            skip $backend "package bubblewrap"
        else
            skip $backend "$(head -n 1 "$tmp/why")"
        fi
        continue
    fi
    check "$backend many" many_runs $backend
    echo "    $(cat "$tmp/count")"
    nothing_left "$backend many" 2
    check "$backend at_once" at_once $backend
    nothing_left "$backend at_once" 2
    check "$backend storm" storm_that_ends $backend
    nothing_left "$backend storm" 1
    check "$backend killed" storm_that_is_killed $backend
    nothing_left "$backend killed" 1
done
summary
