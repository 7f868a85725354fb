#!/bin/sh
# A static program that maps the gate of the shim itself and makes its calls from there. What it gains
# is what --print leaves to the supervisor or the shim, and nothing that the kernel holds; with
# --strict nothing. And the supervisor's own part of procfs is closed, by whatever way.
. "$TOP/tests/tools/lib.sh"
need_shim supervise-gate

tmp=$(readlink -f "$tmp")
programs=$BUILD/tests/supervise
serve=
trap '[ -z "$serve" ] || kill "$serve"; rm -rf "$tmp"' EXIT

mkdir "$tmp/ws" "$tmp/out"
mkfifo "$tmp/said"
"$programs/serve" "$tmp/s.other" "$tmp/s" >"$tmp/said" &
serve=$!
exec 3<"$tmp/said"
read -r port rest <&3
: "$rest"

fresh()
{
    echo denied >"$tmp/ws/no"
    echo outside >"$tmp/out/f"
    chmod 600 "$tmp/ws/no" "$tmp/out/f"
}

# What came of the calls, in one line.
calls() # MANNER COMMAND...
{
    manner=$1
    shift
    fresh
    (cd "$tmp/ws" && "$@" "$programs/gate" "$manner" inside=no outside="$tmp/out/f" net="$port" unix="$tmp/s") \
        2>"$tmp/stderr" | tr '\n' ';'
}

confined() # MANNER BACKEND OPTIONS...
{
    way=$1 backend=$2
    shift 2
    calls "$way" "$BUILD/cordon" run -q -b "$backend" -r "$programs" -d "$tmp/ws/no" "$@" --
}

expect() # NAME EXPECTED GOT
{
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "$3 $(head -c 200 "$tmp/stderr")"
    fi
}

all='inside read ok;inside stat ok;inside write ok;inside chmod ok;outside read ok;outside stat ok;outside write ok;outside chmod ok;net connect ok;unix connect ok;'
none=$(echo "$all" | sed 's/ok/EACCES/g')
# What lies in no grant: contents the kernel holds, metadata are left to the others, as --print says.
gained=$(echo "$all" | sed 's/outside read ok/outside read EACCES/; s/outside write ok/outside write EACCES/; s/connect ok/connect EACCES/g')

if ! "$BUILD/cordon" run -b landlock -C "$tmp/ws" -- true 2>"$tmp/why"; then
    skip landlock "$(head -n 1 "$tmp/why")"
elif [ "$(uname -m)" != x86_64 ]; then
    skip gate "there is no gate on this machine"
else
    expect "control: without cordon" "$all" "$(calls none env)"
    expect "control: without cordon, by the gate" "$all" "$(calls forged env)"
    expect "landlock: without the gate" "$none" "$(confined none landlock)"
    expect "landlock: by the gate" "$gained" "$(confined forged landlock)"
    expect "landlock --strict: without the gate" "$none" "$(confined none landlock --strict)"
    expect "landlock --strict: by the gate" "$none" "$(confined forged landlock --strict)"
    print=$("$BUILD/cordon" run -b landlock -C "$tmp/ws" -d "$tmp/ws/no" --print)
    case $print in
    *"deny     supervisor --deny     $tmp/ws/no"* | *"deny     shim       --deny     $tmp/ws/no"*)
        pass "--print says that the deny is not the kernel's" ;;
    *) fail "--print says that the deny is not the kernel's" "$(echo "$print" | grep "ws/no")" ;;
    esac
    case $print in
    *"metadata of files outside"*) pass "--print says that metadata are not the kernel's" ;;
    *) fail "--print says that metadata are not the kernel's" "$print" ;;
    esac
fi

# --- the supervisor's part of procfs ---

cp "$programs/peek" "$tmp/ws"
for backend in landlock bwrap; do
    if ! "$BUILD/cordon" run -b $backend -C "$tmp/ws" -- true 2>"$tmp/why"; then
        skip "$backend: procfs" "$(head -n 1 "$tmp/why")"
        continue
    fi
    # Its parent is the supervisor: the shell inside says who that is.
    # shellcheck disable=SC2016 # the shell inside expands it
    (cd "$tmp/ws" && timeout 120 "$BUILD/cordon" run -q -b $backend -- sh -c './peek $PPID "$PWD"') >"$tmp/words" 2>&1
    echo "    $backend: $(tail -n 1 "$tmp/words")"
    if grep -q '^threads [1-9].* tries [1-9][0-9]* opened 0$' "$tmp/words"; then
        pass "$backend: the supervisor's procfs is closed"
    else
        fail "$backend: the supervisor's procfs is closed" "$(sort "$tmp/words" | head -n 5 | tr '\n' ';')"
    fi
done
# shellcheck disable=SC2016 # the shell inside expands it
if (cd "$tmp/ws" && sh -c './peek $PPID "$PWD"; :') | tail -n 1 | grep -qv 'opened 0$'; then
    pass "control: without cordon a parent's procfs is open"
else
    fail "control: without cordon a parent's procfs is open" "nothing was opened"
fi
summary
