# Many processes under one supervisor, that begin, open files, wait and are killed; calls that wait,
# and signals to those that wait; a supervisor that is killed. Nothing hangs, nothing is lost, and the
# supervisor holds no descriptor nor thread afterwards that it did not hold before.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"
need_shim supervise-storm

tmp=$(readlink -f "$tmp")
programs=$BUILD/tests/supervise
mark=$tmp/mark
cordon=

mkdir "$tmp/ws"

end_all()
{
    # shellcheck disable=SC2046 # words
    kill -KILL $(left) 2>/dev/null
}
trap 'end_all; rm -rf "$tmp"' EXIT

# Those that belong to the run: cordon, which keeps its environment, and all below it.
left()
{
    grep -lzxsF "STORM=$mark" /proc/[0-9]*/environ | cut -d/ -f3
}

none_left()
{
    tries=100
    while [ -n "$(left)" ]; do
        tries=$((tries - 1))
        if [ $tries -le 0 ]; then
            for pid in $(left); do
                tr '\0' ' ' <"/proc/$pid/cmdline"
                echo
            done
            return 1
        fi
        sleep 0.1
    done
}

# Starts it with its input and output in our hands: 4 and 3.
start() # BACKEND COMMAND...
{
    backend=$1
    shift
    rm -rf "$tmp/ws" "$tmp/in" "$tmp/out"
    mkdir "$tmp/ws"
    mkfifo "$tmp/in" "$tmp/out"
    env -C "$tmp/ws" STORM="$mark" "$BUILD/cordon" run -q -b "$backend" -r "$programs" -- "$@" \
        <"$tmp/in" >"$tmp/out" &
    cordon=$!
    exec 4>"$tmp/in" 3<"$tmp/out"
}

finish()
{
    exec 4>&- 3<&-
    wait "$cordon"
    status=$?
}

# The process of that name below one.
find_supervisor() # PID
{
    # shellcheck disable=SC2013 # words
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
        if [ "$(cat "/proc/$child/comm" 2>/dev/null)" = cordon-super ]; then
            echo "$child"
        else
            find_supervisor "$child"
        fi
    done
}

supervisor()
{
    tries=100
    while super=$(find_supervisor "$cordon") && [ -z "$super" ] && [ $tries -gt 0 ]; do
        tries=$((tries - 1))
        sleep 0.1
    done
    [ -n "$super" ]
}

count() # WHAT: of the supervisor
{
    # shellcheck disable=SC2012 # numbers
    ls "/proc/$super/$1" | wc -l
}

# Within a while it has no more descriptors than before, and no more threads than it keeps: those that
# listen, those that are parked, and the first.
is_as_before() # DESCRIPTORS
{
    tries=100
    while [ "$(count fd)" -gt "$1" ] || [ "$(count task)" -gt 20 ]; do
        tries=$((tries - 1))
        if [ $tries -le 0 ]; then
            echo "$(count fd) descriptors, $1 before; $(count task) threads"
            ls -l "/proc/$super/fd"
            return 1
        fi
        sleep 0.1
    done
}

answers() # WORDS: what it says next
{
    read -r said <&3
    echo "    $said" >>"$tmp/numbers"
    [ "${said#"$1"}" != "$said" ] || echo "said: $said"
    [ "${said#"$1"}" != "$said" ]
}

# --- many -----------------------------------------------------------------------------------------

many() # BACKEND
{
    start "$1" timeout 120 "$programs/crowd" "${STORM_PROCESSES:-1000}" 64
    supervisor || return
    before=$(count fd)
    echo go >&4
    answers "born ${STORM_PROCESSES:-1000} reaped ${STORM_PROCESSES:-1000} " && is_as_before "$before" || return
    echo "    $(count fd) descriptors, $before before; $(count task) threads" >>"$tmp/numbers"
    echo go >&4
    finish
    [ $status -eq 7 ] || echo "status $status"
    [ $status -eq 7 ]
}

# --- waiting --------------------------------------------------------------------------------------

# Each has a thread that waits with it, and that goes when it is killed.
held() # BACKEND
{
    start "$1" timeout 60 "$programs/waits" hold 50
    supervisor || return
    before=$(count fd)
    echo go >&4
    answers held || return
    threads=$(count task)
    if [ "$threads" -lt 50 ]; then
        echo "only $threads threads: nobody waits"
        return 1
    fi
    echo go >&4
    answers freed && is_as_before "$before" || return
    echo "    $threads threads while 50 wait, $(count task) afterwards" >>"$tmp/numbers"
    echo go >&4
    finish
    [ $status -eq 7 ] || echo "status $status"
    [ $status -eq 7 ]
}

same_as_bare() # BACKEND
{
    rm -rf "$tmp/ws"
    mkdir "$tmp/ws"
    (cd "$tmp/ws" && timeout 60 "$programs/waits") >"$tmp/bare" || return
    # It leaves the socket behind, which has to be there to be named.
    (cd "$tmp/ws" && timeout 60 "$BUILD/cordon" run -q -b "$1" -u "$tmp/ws/socket" -r "$programs" -- "$programs/waits") >"$tmp/inside"
    diff "$tmp/bare" "$tmp/inside" && [ "$(wc -l <"$tmp/bare")" -eq 17 ]
}

# --- the supervisor's end -------------------------------------------------------------------------

# All ends with it, whoever waits for whatever.
without() # BACKEND
{
    start "$1" timeout 60 "$programs/waits" hold 20
    supervisor || return
    echo go >&4
    answers held || return
    kill -KILL "$super"
    finish
    echo "    status $status after the supervisor was killed" >>"$tmp/numbers"
    if [ $status -ne 125 ] && [ $status -lt 129 ]; then
        echo "status $status"
        return 1
    fi
    none_left
}

for backend in landlock bwrap; do
    if ! "$BUILD/cordon" run -b $backend -C "$tmp/ws" -- true 2>"$tmp/why"; then
        skip $backend "$(head -n 1 "$tmp/why")"
        continue
    fi
    : >"$tmp/numbers"
    check "$backend: many processes, killed at random" many $backend
    check "$backend: those that wait for a FIFO are killed" held $backend
    check "$backend: calls that wait end as they do without cordon" same_as_bare $backend
    check "$backend: all ends with the supervisor" without $backend
    check "$backend: nothing is left" none_left
    end_all
    cat "$tmp/numbers"
done
summary
