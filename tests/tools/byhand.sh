# The shim preloaded by hand: it fails closed, it is in every child, and it is safe where a program may call
# it. Each refusal has its control: the same without the shim succeeds.
# shellcheck shell=sh source=tests/tools/lib.sh disable=SC2016
. "$TOP/tests/tools/lib.sh"

need_shim byhand
command -v "${CC:-cc}" >/dev/null || {
    skip byhand "package gcc"
    summary
    exit
}

tmp=$(readlink -f "$tmp")
chmod 755 "$tmp"
mkdir "$tmp/ws" "$tmp/out" "$tmp/bin"
cp "$BUILD/libcordon-shim.so" "$BUILD/cordon" "$tmp/bin/"
shim=$tmp/bin/libcordon-shim.so
echo inside >"$tmp/ws/inside"
echo secret >"$tmp/out/secret"
cd "$tmp/ws" || exit
${CC:-cc} -D_GNU_SOURCE -pthread -o byhand "$TOP/tests/tools/byhand.c" || exit
unset CORDON_ROOT CORDON_READ CORDON_WRITE CORDON_DENY CORDON_UNIX CORDON_NET CORDON_BACKEND CORDON_LOG \
    CORDON_MODE CORDON_IMAGE CORDON_POLICY LD_PRELOAD

# The environment is set by env, so that only what it starts is confined.
held() # BACKEND COMMAND...
{
    held_by=$1
    shift
    env LD_PRELOAD="$shim" CORDON_ROOT="$tmp/ws" CORDON_BACKEND="$held_by" "$@"
}

same() # NAME EXPECTED GOT
{
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "expected \"$2\", got \"$3\""
    fi
}

backends=native
if held landlock /bin/true 2>/dev/null; then
    backends="native landlock"
else
    skip landlock "the kernel has none"
fi

# --- loading fails closed -------------------------------------------------------------------------

# Status 125, one line, and main has not run.
closed() # NAME VARIABLE=VALUE...
{
    name=$1
    shift
    rm -f "$tmp/ws/ran"
    env LD_PRELOAD="$shim" "$@" touch "$tmp/ws/ran" 2>"$tmp/err"
    status=$?
    if [ $status -ne 125 ]; then
        fail "closed: $name" "exit status $status"
    elif [ "$(wc -l <"$tmp/err")" -ne 1 ] || ! grep -q '^cordon: ' "$tmp/err"; then
        fail "closed: $name" "not one line: $(cat "$tmp/err")"
    elif [ -e "$tmp/ws/ran" ]; then
        fail "closed: $name" "the program has run"
    else
        pass "closed: $name"
    fi
}

touch "$tmp/ws/ran" # the control
same "the program that must not run can" 0 $?
closed "no root" CORDON_BACKEND=native
closed "an empty root" CORDON_ROOT=
closed "a relative root" CORDON_ROOT=ws
closed "a missing root" CORDON_ROOT="$tmp/none"
closed "a root that is a file" CORDON_ROOT="$tmp/ws/inside"
closed "an unknown backend" CORDON_ROOT="$tmp/ws" CORDON_BACKEND=wall
closed "an unknown network" CORDON_ROOT="$tmp/ws" CORDON_NET=some
closed "the loopback network" CORDON_ROOT="$tmp/ws" CORDON_NET=loopback
closed "an unknown mode" CORDON_ROOT="$tmp/ws" CORDON_MODE=off
closed "a read grant that is missing" CORDON_ROOT="$tmp/ws" CORDON_READ="$tmp/none"
closed "a write grant that is missing" CORDON_ROOT="$tmp/ws" CORDON_WRITE="$tmp/out:$tmp/none"
closed "an empty item" CORDON_ROOT="$tmp/ws" CORDON_READ="$tmp/out::$tmp/ws"
closed "a pattern that is none" CORDON_ROOT="$tmp/ws" CORDON_DENY='[a'
closed "a log that cannot be made" CORDON_ROOT="$tmp/ws" CORDON_LOG="$tmp/none/log"
closed "a setting of a later version" CORDON_ROOT="$tmp/ws" CORDON_POLICY=/etc/hosts
closed "an image that is none" CORDON_ROOT="$tmp/ws" CORDON_IMAGE=AAAA
closed "an empty image" CORDON_ROOT="$tmp/ws" CORDON_IMAGE=

# --- reading, and starting children ---------------------------------------------------------------

# The way succeeds bare, and inside; outside it is refused.
refuses() # BACKEND WAY...
{
    wall=$1
    shift
    label="$wall: $*"
    bare=$(./byhand "$@" "$tmp/out/secret" 2>&1)
    inside=$(held "$wall" ./byhand "$@" "$tmp/ws/inside" 2>&1)
    outside=$(held "$wall" ./byhand "$@" "$tmp/out/secret" 2>&1)
    same "$label" "ok ok EACCES" "$bare $inside $outside"
}

for backend in $backends; do
    for way in open handler small-stack vfork fork close-all number; do
        refuses "$backend" $way
    done
    for way in spawn spawnp empty execve execve-null execvp execl fexecve syscall vfork-exec system popen \
        setenv unsetenv forgery; do
        refuses "$backend" $way open
    done
    refuses "$backend" system spawn execve open
    refuses "$backend" popen empty forgery open
    refuses "$backend" setenv unsetenv spawn number
    same "$backend: threads" EACCES "$(held "$backend" ./byhand threads "$tmp/out/secret" 2>&1)"
    same "$backend: env -i" EACCES "$(held "$backend" env -i "$tmp/ws/byhand" open "$tmp/out/secret")"
    same "$backend: a script" EACCES "$(
        printf '#!/bin/sh\nexec ./byhand open "$1"\n' >script
        chmod +x script
        held "$backend" ./script "$tmp/out/secret"
    )"
done
same "threads: the control" ok "$(./byhand threads "$tmp/out/secret" 2>&1)"

# --- what a child sees ----------------------------------------------------------------------------

bare=$(env CORDON_ROOT="$tmp/ws" CORDON_BACKEND=native A=1 sh -c 'env; printf x | sh -c "cat; exit 7"; echo $?; kill -9 $$')
bare_status=$?
held=$(held native A=1 sh -c 'env; printf x | sh -c "cat; exit 7"; echo $?; kill -9 $$')
same "status, signal and stdin of children" $bare_status $?
same "environment as bare" "$(echo "$bare" | sort)" "$(echo "$held" | sort)"
theirs=$(env LD_PRELOAD="$shim libm.so.6" CORDON_ROOT="$tmp/ws" CORDON_BACKEND=native \
    sh -c 'sh -c "echo \$LD_PRELOAD; ./byhand open '"$tmp/out/secret"'"')
same "preloads of the user stay" "libm.so.6
EACCES" "$theirs"
printf '#!/bin/sh\nwc -c </proc/self/environ\n[ "$1" = . ] || exec ./deep "${1#.}"\n' >deep
chmod +x deep
sizes=$(held native sh -c './deep ....' | sort -u | wc -l)
same "the environment does not grow" 1 "$sizes"

# --- what the shim cannot enter -------------------------------------------------------------------

if ${CC:-cc} -D_GNU_SOURCE -static -o static "$TOP/tests/tools/byhand.c" 2>/dev/null; then
    same "a static program, bare" ok "$(./static open "$tmp/out/secret")"
    held native sh -c "./static open $tmp/out/secret" >"$tmp/said" 2>/dev/null
    same "native refuses a static program" "126 " "$? $(cat "$tmp/said")"
    case $backends in
    *landlock*)
        same "landlock holds a static program" "ok EACCES" \
            "$(held landlock sh -c "./static open inside; ./static open $tmp/out/secret" | tr '\n' ' ' | sed 's/ $//')"
        ;;
    esac
else
    skip "static programs" "package libc6-dev"
fi

# --- records --------------------------------------------------------------------------------------

held native CORDON_LOG="$tmp/log" ./byhand open "$tmp/out/secret" >/dev/null
fields=$(sed 's/"\([a-z]*\)":\("[^"]*"\|[0-9]*\)/\1/g' "$tmp/log")
same "a record" "{time,pid,ppid,exe,op,intent,path,resolved,verdict,rule,origin,errno,layer,hint}" "$fields"
if grep -q "\"op\":\"open\",\"intent\":\"read\",\"path\":\"$tmp/out/secret\".*\"verdict\":\"deny\".*\"hint\":\"--read $tmp/out/secret\"" "$tmp/log"; then
    pass "what a record says"
else
    fail "what a record says" "$(cat "$tmp/log")"
fi
: >"$tmp/log"
same "observed, not refused" ok "$(held native CORDON_MODE=observe CORDON_LOG="$tmp/log" ./byhand open "$tmp/out/secret")"
same "an observation is recorded" 1 "$(grep -c '"verdict":"observe"' "$tmp/log")"
same "a missing name is no refusal" "ENOENT 1" "$(held native CORDON_LOG="$tmp/log" ./byhand open "$tmp/out/none") $(wc -l <"$tmp/log")"

# --- grants and denies ----------------------------------------------------------------------------

mkdir "$tmp/out/a:b"
echo x >"$tmp/out/a:b/file"
same "a colon in a list" "ok" "$(held native CORDON_READ="$tmp/out/a\\:b:/usr" ./byhand open "$tmp/out/a:b/file")"
same "a read grant" "ok" "$(held native CORDON_READ="$tmp/out" ./byhand open "$tmp/out/secret")"
held native CORDON_READ="$tmp/out" sh -c "echo x >$tmp/out/new" 2>/dev/null
same "a read grant is none to write" "a:b secret" "$(cd "$tmp/out" && echo *)"
same "a deny" "EACCES" "$(held native CORDON_DENY='ins*' ./byhand open inside)"
same "an inner policy cannot widen" "EACCES" \
    "$(held native sh -c "env CORDON_ROOT=/ CORDON_READ=/ LD_PRELOAD=$shim ./byhand open $tmp/out/secret")"

# --- the object itself ----------------------------------------------------------------------------

if command -v readelf >/dev/null; then
    same "needs nothing but libc" "libc.so.6" "$(readelf -d "$shim" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')"
    foreign=$(nm -D --defined-only "$shim" | awk '{print $3}' | while read -r name; do
        grep -q "\b$name\b" "$TOP/shim/preload/hooks.def" || echo "$name"
    done)
    same "exports nothing but hooks" "" "$foreign"
else
    skip "the object itself" "package binutils"
fi
same "nothing outside has changed" "a:b secret" "$(cd "$tmp/out" && echo *)"

summary
