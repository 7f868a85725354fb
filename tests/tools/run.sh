# `cordon run` as a command: statuses, signals, options, environment, descriptors, temporary files,
# what it prints, and that it ends with all that it started.
# shellcheck shell=sh source=tests/tools/lib.sh
# shellcheck disable=SC2016 # scripts in quotes are for the shell inside
. "$TOP/tests/tools/lib.sh"
need_shim run

LC_ALL=C
export LC_ALL
tmp=$(readlink -f "$tmp")
cordon=$BUILD/cordon

# $tmp/ws/            the workspace, where all commands start
#   file
#   sub/secret.pem
# $tmp/out/secret     outside
# $tmp/home/          the user's, with a toolchain
# $tmp/tmp/           where private directories are made
mkdir -p "$tmp/ws/sub" "$tmp/out" "$tmp/home/.config/git" "$tmp/home/.pyenv/bin" "$tmp/tmp"
echo inside >"$tmp/ws/file"
echo key >"$tmp/ws/sub/secret.pem"
echo secret >"$tmp/out/secret"
echo secret >"$tmp/home/.netrc"
HOME=$tmp/home TMPDIR=$tmp/tmp
export HOME TMPDIR
unset XDG_CACHE_HOME LD_PRELOAD
cd "$tmp/ws" || exit

# Compares status, output and errors of a command.
expect() # NAME STATUS STDOUT STDERR COMMAND...
{
    name=$1 status=$2 stdout=$3 stderr=$4
    shift 4
    "$@" >"$tmp/stdout" 2>"$tmp/stderr"
    got=$?
    if [ $got -ne "$status" ]; then
        fail "$name" "exit status $got, not $status: $(cat "$tmp/stderr")"
    elif [ "$(cat "$tmp/stdout")" != "$stdout" ]; then
        fail "$name" "printed: $(cat "$tmp/stdout")"
    elif [ "$(cat "$tmp/stderr")" != "$stderr" ]; then
        fail "$name" "said: $(cat "$tmp/stderr")"
    else
        pass "$name"
    fi
}

# The control of a refusal: bare it works. Under cordon it fails and says so.
refused() # NAME WORDS COMMAND...
{
    name=$1 words=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        fail "$name" "it does not work without cordon either"
    elif "$cordon" -- "$@" >"$tmp/stdout" 2>"$tmp/stderr"; then
        fail "$name" "it was allowed"
    elif ! grep -q "$words" "$tmp/stderr"; then
        fail "$name" "said: $(cat "$tmp/stderr")"
    else
        pass "$name"
    fi
}

usage() # NAME LINE ARG...
{
    name=$1 line=$2
    shift 2
    expect "$name" 125 "" "cordon: $line (see cordon --help)" "$cordon" "$@"
}

setup() # NAME LINE ARG...
{
    name=$1 line=$2
    shift 2
    expect "$name" 125 "" "cordon: $line" "$cordon" "$@"
}

has() # FILE TEXT
{
    grep -qF -- "$2" "$1" || {
        cat "$1"
        return 1
    }
}

# The walls that there are, and the shim alone.
backends="native"
for backend in landlock bwrap; do
    if "$cordon" -b $backend -- true 2>"$tmp/stderr"; then
        backends="$backends $backend"
    elif [ $backend = bwrap ] && ! command -v bwrap >/dev/null; then
        skip $backend "package bubblewrap"
    else
        skip $backend "does not work here: $(head -n 1 "$tmp/stderr")"
    fi
done

# --- statuses, signals, input and output, with every backend
for b in $backends; do
    c="$cordon -q -b $b --"
    # shellcheck disable=SC2086 # words
    {
        expect "$b: success" 0 "" "" $c true
        expect "$b: failure" 1 "" "" $c false
        expect "$b: status" 42 "" "" $c sh -c 'exit 42'
        expect "$b: status_of_our_own" 125 "" "" $c sh -c 'exit 125'
        expect "$b: output" 0 out err $c sh -c 'echo out; echo err >&2'
        expect "$b: arguments" 0 "[] [a b] [*] [--] [-h]" "" $c sh -c 'shift; printf "[%s] [%s] [%s] [%s] [%s]\n" "$@"' sh x "" "a b" '*' -- -h
        expect "$b: not_found" 127 "" "cordon: no-such-program: command not found" $c no-such-program
        expect "$b: not_found_by_path" 127 "" "cordon: ./no/such: No such file or directory" $c ./no/such
        expect "$b: not_executable" 126 "" "cordon: ./file: Permission denied" $c ./file
        expect "$b: a_directory" 126 "" "cordon: ./sub: Permission denied" $c ./sub
        expect "$b: working_directory" 0 "$tmp/ws" "" $c pwd
        check "$b: input" test "$(printf 'a\nb\n' | $c cat)" = "$(printf 'a\nb')"
        check "$b: output_to_a_closed_pipe" test "$(yes | $c cat 2>/dev/null | head -n 1)" = y
        check "$b: input_is_not_eaten" test "$(printf 'a\nb\n' | { $c true; cat; })" = "$(printf 'a\nb')"
        refused "$b: reads_outside" "outside\|denied\|No such" cat "$tmp/out/secret"
        check "$b: writes_inside" $c sh -c 'echo new >made && mv made moved && rm moved'
        expect "$b: argv0_of_a_script" 0 ./script "" sh -c 'printf "#!/bin/sh\necho \$0\n" >script; chmod 755 script; exec "$@"' sh $c ./script
        expect "$b: script_without_interpreter" 0 "here x" "" sh -c 'printf "echo here \$1\n" >plain; chmod 755 plain; exec "$@"' sh $c ./plain x
    }
done
rm -f script plain
check nothing_was_changed_outside test "$(cat "$tmp/out/secret")" = secret

# A signal that ends the command ends cordon in the same way: the shell that waits sees it.
for sig in TERM KILL INT HUP USR1 SEGV; do
    bare=$(sh -c "sh -c 'kill -$sig \$\$'; echo \$?" 2>/dev/null)
    got=$(sh -c '"$0" -- sh -c "kill -$1 \$\$"; echo $?' "$cordon" $sig 2>/dev/null)
    check "ends_by_SIG$sig" test "$got" = "$bare"
done

# One that is sent to cordon alone reaches the command, once.
cat >signals.sh <<'END'
trap 'echo got' USR1
trap 'echo bye; exit 9' TERM
echo ready
i=0
while [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done
END
wait_for() # TEXT FILE
{
    i=0
    until grep -q "$1" "$2" || [ $i -ge 400 ]; do
        sleep 0.05
        i=$((i + 1))
    done
    grep -q "$1" "$2"
}
for b in $backends; do
    : >"$tmp/said"
    "$cordon" -q -b "$b" -- sh signals.sh >"$tmp/said" 2>&1 &
    pid=$!
    wait_for ready "$tmp/said"
    kill -USR1 $pid
    check "$b: signal_is_passed_on" wait_for got "$tmp/said"
    kill -TERM $pid
    wait $pid
    check "$b: status_after_a_signal" test $? -eq 9
    check "$b: signals_come_once" test "$(cat "$tmp/said")" = "$(printf 'ready\ngot\nbye')"
done
rm signals.sh

# What the caller ignores or blocks the command finds so.
ignored() # COMMAND...: the signals that it ignores and blocks
{
    "$@" sed -n 's/^Sig\(Ign\|Blk\):/&/p' /proc/self/status
}
for b in $backends; do
    check "$b: dispositions" test "$(trap '' HUP USR1 CHLD; ignored env)" = \
        "$(trap '' HUP USR1 CHLD; ignored "$cordon" -q -b "$b" --)"
done

# --- options
usage no_command 'which command is to be run?' run
usage no_command_after_options 'which command is to be run?' -C . --
usage misspelt 'run has no option --strcit: did you mean --strict?' --strcit -- true
usage unknown 'run has no option --zzzzzzzz' --zzzzzzzz -- true
usage unknown_letter 'run has no option -x' -x -- true
usage value_missing 'a value is missing after --read' run --read
usage unwanted_value '--strict=yes takes no value' --strict=yes -- true
usage no_separator 'put -- before "true" to run it' -q true
usage misspelt_command 'there is no command "doctr": did you mean doctor? To run it: cordon -- doctr' doctr
usage bad_net '--net is deny, loopback or open, not "closed"' -n closed -- true
usage bad_backend '--backend is auto, landlock, bwrap or native, not "docker"' -b docker -- true
usage bad_tmp '--tmp is private, host or none, not "x"' --tmp x -- true
usage bad_fd '--fd is the number of a descriptor, not "x"' --fd x -- true
usage empty_read '--read wants a path' -r '' -- true
setup later_short '-t: not in this version' -t warn -- true
setup later_long '--learn: not in this version' --learn=x -- true
usage bad_port '--net loopback:PORT,... wants ports from 1 to 65535, not "80,http"' -n loopback:80,http -- true
usage port_0 '--net loopback:PORT,... wants ports from 1 to 65535, not "0"' -n loopback:0 -- true
setup missing_read "--read: $tmp/none: No such file or directory" -r "$tmp/none" -- true
setup missing_root "$tmp/none: cannot be the workspace: No such file or directory" -C "$tmp/none" -- true
setup root_is_a_file "file: cannot be the workspace: not a directory" -C file -- true
insist="would open all of your home directory, or of the system: name a directory in it with -C, or insist with --any-root"
setup root_is_the_root "/: $insist" -C / -- true
setup root_is_home "$tmp/home: $insist" -C "$tmp/home" -- true
setup root_is_above_home "$tmp: $insist" -C "$tmp" -- true
setup bad_pattern '--deny: "a[": a "[" without its "]"' -d 'a[' -- true
expect any_root 0 "" "" "$cordon" -C "$tmp/home" --any-root -- true
expect options_end_at_the_first_word 0 "-q" "" "$cordon" run -q echo -q
expect run_and_separator 0 "-n" "" "$cordon" run -- printf %s -n
check help_fits_a_screen sh -c '"$1" --help | awk "length > 80 { exit 1 } END { exit NR > 24 }"' sh "$cordon"

# --- grants and denies; the backend is the one that auto takes
expect read_grant 0 secret "" "$cordon" -r "$tmp/out" -- cat "$tmp/out/secret"
check read_is_not_write sh -c '! "$1" -r "$2/out" -- sh -c "echo x >$2/out/secret" 2>/dev/null' sh "$cordon" "$tmp"
expect write_grant 0 "" "" "$cordon" -w "$tmp/out" -- touch "$tmp/out/made"
check write_grant_wrote test -e "$tmp/out/made"
expect relative_grant 0 secret "" "$cordon" -r ../out -- cat "$tmp/out/secret"
expect deny_pattern 1 inside "cat: sub/secret.pem: Permission denied" "$cordon" -d '*.pem' -- cat file sub/secret.pem
expect deny_path 1 inside "cat: sub/secret.pem: Permission denied" "$cordon" -d sub/secret.pem -- cat file sub/secret.pem
expect deny_directory 1 inside "cat: sub/secret.pem: Permission denied" "$cordon" -d sub -- cat file sub/secret.pem
mkdir deep && cp sub/secret.pem deep/key && cp sub/secret.pem key
expect deny_name_at_any_depth 1 "" "cat: key: Permission denied
cat: deep/key: Permission denied" "$cordon" -d key -- cat key deep/key
rm -r deep key
refused home_is_shut "Permission denied" cat "$tmp/home/.netrc"
echo '[user]' >"$tmp/home/.gitconfig"
expect gitconfig 0 "[user]" "" "$cordon" -- cat "$tmp/home/.gitconfig"
printf '#!/bin/sh\necho tool\n' >"$tmp/home/.pyenv/bin/tool"
chmod 755 "$tmp/home/.pyenv/bin/tool"
expect toolchain 0 tool "" env PATH="$tmp/home/.pyenv/bin:$PATH" "$cordon" -- tool
expect outside_program 126 "" "cordon: $tmp/home/.pyenv/bin/tool: may not be run: the policy does not open it: -r PATH would, see cordon why exec PATH" \
    "$cordon" -- "$tmp/home/.pyenv/bin/tool"
mkdir -p .git/hooks
refused protected "Permission denied" sh -c 'echo x >.git/hooks/pre-commit'
rm -f .git/hooks/pre-commit
expect no_protect 0 "" "" "$cordon" --no-protect -- sh -c 'echo x >.git/hooks/pre-commit'
rm -r .git
expect from_elsewhere 0 "$tmp/ws" "" sh -c 'cd / && exec "$1" -C "$2/ws" -- pwd' sh "$cordon" "$tmp"
expect from_a_subdirectory 0 "$tmp/ws/sub" "" sh -c 'cd sub && exec "$1" -C .. -- pwd' sh "$cordon"

# --- environment
shows='echo "$MY_TOKEN,$AWS_REGION,$API_KEY,$DB_PASSWORD,$SSH_AUTH_SOCK,$KEYBOARD,$HOME"'
export MY_TOKEN=t AWS_REGION=r API_KEY=k DB_PASSWORD=p SSH_AUTH_SOCK=s KEYBOARD=us
expect secrets_bare 0 "t,r,k,p,s,us,$HOME" "" sh -c "$shows"
expect secrets_left_out 0 ",,,,,us,$HOME" "" "$cordon" -- sh -c "$shows"
expect secret_kept 0 "t,,,,,us,$HOME" "" "$cordon" --env MY_TOKEN -- sh -c "$shows"
"$cordon" --print >"$tmp/print"
check secrets_are_listed has "$tmp/print" "left out of the environment: "
for name in MY_TOKEN AWS_REGION API_KEY DB_PASSWORD SSH_AUTH_SOCK; do
    check "print_lists_$name" has "$tmp/print" " $name"
done
unset MY_TOKEN AWS_REGION API_KEY DB_PASSWORD SSH_AUTH_SOCK
# The shim's own variables are not seen, in a child of the command neither.
for b in $backends; do
    check "$b: own_variables_are_hidden" test -z \
        "$("$cordon" -q -b "$b" -- sh -c 'env; env' | grep 'CORDON\|LD_PRELOAD\|^_=.*cordon')"
done

# --- caches: nothing is left if none is used; what is used is there in the next run
{
    "$cordon" -- true
    check no_cache_is_left test ! -e "$tmp/home/.cache"
    "$cordon" -- sh -c 'mkdir -p "$PIP_CACHE_DIR" && echo kept >"$PIP_CACHE_DIR/thing"'
    expect cache_is_kept 0 kept "" "$cordon" -- sh -c 'cat "$PIP_CACHE_DIR/thing"'
    mkdir "$tmp/other"
    expect cache_of_another_workspace 1 "" "" "$cordon" -C "$tmp/other" -- sh -c 'test -e "$PIP_CACHE_DIR/thing"'
    expect cache_of_the_workspace_stays 0 "$tmp/ws/c" "" env GOCACHE="$tmp/ws/c" "$cordon" -- sh -c 'echo "$GOCACHE"'
}

# --- temporary files
for b in $backends; do
    dir=$("$cordon" -q -b "$b" -- sh -c 'mkdir -p "$TMPDIR/a/b"; touch "$TMPDIR/a/b/c"; chmod 0 "$TMPDIR/a"; echo "$TMPDIR"')
    case $dir in
    "$tmp"/tmp/cordon-*) pass "$b: tmp_is_private" ;;
    *) fail "$b: tmp_is_private" "it is $dir" ;;
    esac
    check "$b: tmp_is_gone" test ! -e "$dir"
done
expect tmp_host 0 "$tmp/tmp" "" "$cordon" --tmp host -- sh -c 'touch "$TMPDIR/by-host" && echo "$TMPDIR"'
check tmp_host_is_written test -e "$tmp/tmp/by-host"
rm "$tmp/tmp/by-host"
expect tmp_none 1 "" "touch: cannot touch '$tmp/tmp/x': Permission denied" "$cordon" --tmp none -- touch "$tmp/tmp/x"
# Deeper than any path is long.
deep='d=d; while [ ${#d} -lt 1000 ]; do d=$d/d; done; cd "$TMPDIR"; mkdir tree; for i in 1 2 3 4 5 6 7 8 9 10; do mkdir -p "new/$d" && mv tree "new/$d/" && mv new tree; done'
expect deep_tmp_is_removed 0 "" "" "$cordon" -- sh -c "$deep"
check nothing_is_left_in_tmp test -z "$(ls -A "$tmp/tmp")"

# --- descriptors
mkfifo "$tmp/out/fifo"
{
    opens='exec 5</etc/passwd 6<"$1/out/secret" 7<"$1/out" 8<file; shift; exec "$@"'
    sees='for fd in 3 4 5 6 7 8; do (eval "exec <&$fd") 2>/dev/null && printf "%s " $fd; done; echo'
    expect descriptors_bare 0 "5 6 7 8 " "" sh -c "$opens" sh "$tmp" sh -c "$sees"
    for b in $backends; do
        expect "$b: descriptors" 0 "5 8 " "" sh -c "$opens" sh "$tmp" "$cordon" -q -b "$b" -- sh -c "$sees"
    done
    expect descriptor_kept 0 "5 6 8 " "" sh -c "$opens" sh "$tmp" "$cordon" --fd 6 -- sh -c "$sees"
    expect writable_descriptor_outside 0 "" "" sh -c 'exec 5>>"$1/out/secret"; shift; exec "$@"' sh "$tmp" \
        "$cordon" -- sh -c '! (eval "exec <&5") 2>/dev/null'
    expect directory_as_input 0 /dev/null "" sh -c 'exec <"$1/out"; shift; exec "$@"' sh "$tmp" \
        "$cordon" -- readlink /proc/self/fd/0
    expect closed_input 0 closed "" sh -c 'exec <&-; exec "$@"' sh "$cordon" -- \
        sh -c 'test -e /proc/self/fd/0 || echo closed'
    expect all_closed 7 "" "" sh -c 'exec <&- >&- 2>&-; exec "$@"' sh "$cordon" -- sh -c 'exit 7'
}
if command -v bash >/dev/null; then
    for b in $backends; do
        expect "$b: process_substitution" 0 "$(printf 'one\ntwo')" "" \
            bash -c '"$@" cat <(echo one) <(echo two)' bash "$cordon" -q -b "$b" --
    done
fi
printf 'all: a b\na b:\n\t@echo $@\n' >Makefile
for b in $backends; do
    printf 'x:\n\t+@%s -q -b %s -- make -s --no-print-directory\n' "$cordon" "$b" >outer.mk
    check "$b: jobserver" test "$(make -s -j2 -f outer.mk 2>&1 | sort | tr '\n' ' ')" = "a b "
done
rm Makefile outer.mk

# --- programs that the shim cannot enter
printf 'int main(void) { return 5; }\n' >static.c
if ${CC:-cc} -static -o static static.c 2>/dev/null; then
    expect native_refuses_static 126 "" "cordon: ./static: may not be run without a wall: the shim cannot enter it: it is statically linked" \
        "$cordon" -q -b native -- ./static
    expect wall_holds_static 5 "" "" "$cordon" -- ./static
    "$cordon" -v -- ./static 2>"$tmp/stderr"
    check verbose_says_so has "$tmp/stderr" "./static: the shim cannot enter it: it is statically linked"
    "$cordon" wrap ./static >"$tmp/wrapper"
    expect wrapper_of_static 5 "" "" sh "$tmp/wrapper"
else
    skip native_refuses_static "no static libc here"
fi
rm -f static static.c
"$cordon" -b native -- true 2>"$tmp/stderr"
check native_says_so has "$tmp/stderr" "cordon: native: no wall"

# A shim that is not loaded is never a free program.
mkdir -p "$tmp/broken"
cp "$cordon" "$tmp/broken/cordon"
expect no_shim 125 "" "cordon: libcordon-shim.so: it is neither beside $tmp/broken/cordon nor in ../lib" \
    "$tmp/broken/cordon" -- true
printf 'int nothing;\n' >nothing.c
${CC:-cc} -shared -fPIC -o "$tmp/broken/libcordon-shim.so" nothing.c && rm nothing.c
for b in $backends; do
    "$tmp/broken/cordon" -q -b "$b" --no-supervise -- sh -c 'sleep 0.1; echo free >freed' >/dev/null 2>"$tmp/stderr"
    check "$b: false_shim" test $? -eq 125
    [ "$b" != native ] || continue
    # The supervisor judges what the shim does not.
    "$tmp/broken/cordon" -q -b "$b" -d denied -- sh -c 'echo free >denied' >/dev/null 2>"$tmp/stderr"
    check "$b: false_shim_is_no_way_around" test $? -ne 0 -a ! -e denied
    check "$b: false_shim_control" "$tmp/broken/cordon" -q -b "$b" -- sh -c 'echo free >denied; rm denied'
done
rm -f freed
"$tmp/broken/cordon" -q -b native -- sh -c 'echo free >freed' 2>/dev/null
check false_shim_did_nothing_natively test ! -e freed
rm -f freed

# Where LD_PRELOAD cannot carry its name it goes by another.
mkdir "$tmp/with a space:"
cp "$BUILD/cordon" "$BUILD/libcordon-shim.so" "$tmp/with a space:/"
refused_there() { ! "$tmp/with a space:/cordon" -b native -q -- cat "$tmp/out/secret" 2>/dev/null; }
expect a_space_in_its_path 0 inside "" "$tmp/with a space:/cordon" -- sh -c 'cat file'
check a_space_in_its_path_refuses refused_there

# --- what it records
"$cordon" -l log -- cat "$tmp/out/secret" file >/dev/null 2>&1
check log_names_the_refusal grep -q '"verdict":"deny".*"hint":"--read' log
check log_has_one_line test "$(wc -l <log)" -eq 1
expect observe 0 secret "cordon: --observe: nothing is refused, only recorded" "$cordon" --observe -l log -- cat "$tmp/out/secret"
check observe_is_recorded grep -q '"verdict":"observe"' log
rm log

# --- what it prints
"$cordon" -b native -d '*.pem' --print >"$tmp/print"
check print_rule has "$tmp/print" "write    shim       default    $tmp/ws"
check print_pattern has "$tmp/print" "deny     shim       --deny     *.pem"
check print_network has "$tmp/print" "network    denied, held by nobody"
check print_runs_nothing sh -c '"$1" --print -- touch ran >/dev/null && test ! -e ran' sh "$cordon"
case " $backends " in
*" landlock "*)
    "$cordon" -b landlock -d '*.pem' --print >"$tmp/print"
    check print_landlock_grant has "$tmp/print" "write    kernel     default    $tmp/ws"
    check print_landlock_pattern has "$tmp/print" "deny     supervisor --deny     *.pem"
    check print_landlock_network has "$tmp/print" "network    denied, held by kernel"
    check print_supervisor has "$tmp/print" "supervisor judges every call that the shim has not judged"
    "$cordon" -b landlock --no-supervise -d '*.pem' --print >"$tmp/print"
    check print_unsupervised_pattern has "$tmp/print" "deny     shim       --deny     *.pem"
    check print_unsupervised has "$tmp/print" "supervisor none: static programs and raw system calls meet the wall alone"
    "$cordon" -n loopback:80,443 --print >"$tmp/print"
    check print_loopback has "$tmp/print" "network    loopback:80,443, held by supervisor"
    expect strict_landlock 0 inside "" "$cordon" -b landlock --strict -d '*.pem' -- cat file
    "$cordon" -b landlock --strict --no-supervise -d '*.pem' -- true 2>"$tmp/stderr"
    check strict_alone test $? -eq 125
    check strict_says_why grep -q '^cordon: landlock: the policy: ' "$tmp/stderr"
    "$cordon" --no-supervise -n loopback -- true 2>"$tmp/stderr"
    check loopback_alone test $? -eq 125
    check loopback_says_why grep -q 'loopback wants a supervisor' "$tmp/stderr"
    ;;
esac
case " $backends " in
*" bwrap "*)
    "$cordon" -b bwrap -d sub/secret.pem --print >"$tmp/print"
    check print_bwrap_deny has "$tmp/print" "deny     kernel     --deny     $tmp/ws/sub/secret.pem"
    expect shared_memory_of_its_own 0 "" "" "$cordon" -b bwrap -- touch /dev/shm/of-cordon
    check shared_memory_is_not_the_hosts test ! -e /dev/shm/of-cordon
    expect strict_bwrap 0 inside "" "$cordon" --strict -d sub/secret.pem -- cat file
    ;;
esac
expect why_allowed 0 "$tmp/ws/file: allowed: write $tmp/ws (default), held by shim" "" "$cordon" why -b native write file
expect why_denied 1 "$tmp/out/secret: denied: no rule opens it, held by shim; -r $tmp/out/secret would allow it" "" \
    "$cordon" why -b native read "$tmp/out/secret"
expect why_by_option 0 "$tmp/out/secret: allowed: read $tmp/out (--read), held by shim" "" \
    "$cordon" why -b native -r "$tmp/out" read ../out/secret
usage why_what 'why wants stat, read, write or exec, not "open"' why open file
check doctor "$cordon" doctor
expect wrap_quotes 0 "[it's] [a b]" "" sh -c '"$1" wrap printf >"$2/printf.sh" && sh "$2/printf.sh" "[%s] [%s]\n" "it'\''s" "a b"' sh "$cordon" "$tmp"
mkdir "$tmp/it's"
expect wrap_options 0 "$tmp/it's" "" sh -c '"$1" wrap -C "$2/it'\''s" pwd >"$2/pwd.sh" && sh "$2/pwd.sh"' sh "$cordon" "$tmp"
cp "$(command -v cat)" privileged && chmod 4755 privileged
expect wrap_privileged 0 "" "cordon: ./privileged: set-user-ID, or with capabilities: inside it runs without that privilege" \
    sh -c '"$1" wrap ./privileged >/dev/null' sh "$cordon"
rm privileged

# --- inside each other
expect nested 0 inside "" "$cordon" -- "$cordon" -- cat file
expect nested_status 9 "" "" "$cordon" -- "$cordon" -- sh -c 'exit 9'
check nested_does_not_widen sh -c '! "$1" -- "$1" -r "$2/out" -- cat "$2/out/secret" 2>/dev/null' sh "$cordon" "$tmp"
check nested_narrows sh -c '"$1" -- cat file && ! "$1" -- "$1" -C sub -- cat ../file 2>/dev/null' sh "$cordon"
# One from elsewhere in another: the shim of the outer one is the one that is loaded.
mkdir "$tmp/elsewhere"
cp "$BUILD/cordon" "$BUILD/libcordon-shim.so" "$tmp/elsewhere/"
expect nested_from_elsewhere 0 inside "" "$cordon" -r "$tmp/elsewhere" -- "$tmp/elsewhere/cordon" -- cat file
check nested_from_elsewhere_denies sh -c '! "$1" -r "$2/elsewhere" -- "$2/elsewhere/cordon" -d file -- cat file 2>/dev/null' sh "$cordon" "$tmp"
expect nested_deny 1 "" "cat: file: Permission denied" "$cordon" -- "$cordon" -d file -- cat file
case " $backends " in
*" bwrap "*) expect nested_in_bwrap 0 inside "" "$cordon" -b bwrap -- "$cordon" -- cat file ;;
esac

# --- the end: whoever is killed, nothing is left
gone() # PID...: within a second
{
    [ $# -gt 0 ] || return 1
    i=0
    while [ $i -lt 20 ]; do
        left=
        for pid; do
            case $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null) in
            '' | Z) ;;
            *) left="$left $pid" ;;
            esac
        done
        [ -n "$left" ] || return 0
        sleep 0.05
        i=$((i + 1))
    done
    echo "still there:$left"
    return 1
}
tree='setsid sh -c "echo \$\$ >>pids; trap : TERM HUP; while :; do sleep 1; done" & (setsid sleep 1000 & echo $! >>pids); echo $$ >>pids; touch "$TMPDIR/x"; echo up; sleep 1000'
for b in $backends; do
    rm -f pids "$tmp/said"
    "$cordon" -q -b "$b" -- sh -c "$tree" >"$tmp/said" 2>&1 &
    pid=$!
    check "$b: tree_is_up" wait_for up "$tmp/said"
    if [ "$b" = bwrap ]; then # numbers of its own namespace
        pids=$(ps -eo pid=,args= | awk '/sleep 100[0]$/ { print $1 }')
    else
        pids=$(cat pids)
    fi
    kill -KILL $pid
    wait $pid 2>/dev/null
    # shellcheck disable=SC2086 # a list
    check "$b: killed_cordon" gone $pids
    i=0
    while [ -n "$(ls -A "$tmp/tmp")" ] && [ $i -lt 20 ]; do
        sleep 0.05
        i=$((i + 1))
    done
    check "$b: killed_cordon_leaves_no_file" test -z "$(ls -A "$tmp/tmp")"
done
rm -f pids "$tmp/said"
"$cordon" -q -- sh -c "$tree" >"$tmp/said" 2>&1 &
pid=$!
wait_for up "$tmp/said"
pids=$(cat pids)
kill -KILL "$(cat "/proc/$pid/task/$pid/children")"
wait $pid
check killed_guardian test $? -eq 125
# shellcheck disable=SC2086 # a list
check killed_guardian_leaves_none gone $pids
check killed_guardian_leaves_no_file test -z "$(ls -A "$tmp/tmp")"
rm -f pids
expect daemons_end_with_the_command 0 "" "" "$cordon" -- sh -c 'setsid sleep 1000 >/dev/null 2>&1 & echo $! >pids'
# shellcheck disable=SC2046 # a list
check no_daemon_is_left gone $(cat pids)
rm pids
check workspace_is_as_it_was test "$(ls -A)" = "$(printf 'file\nsub')"

summary
