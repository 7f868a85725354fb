# The command `cordon resolve`: its answers, its refusals and what it says of bad input.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"

# Names that are no characters are shown as they are in the C locale.
LC_ALL=C
export LC_ALL

# $tmp/ws/            $tmp/ws-evil/
#   src/main.c          secret
#   in -> src
#   out -> ../ws-evil
#   dangling -> ../ws-evil/new
#   nowhere -> missing/file
#   loop -> loop
tmp=$(readlink -f "$tmp")
ws=$tmp/ws
mkdir -p "$ws/src" "$tmp/ws-evil"
touch "$ws/src/main.c" "$tmp/ws-evil/secret"
ln -s src "$ws/in"
ln -s ../ws-evil "$ws/out"
ln -s ../ws-evil/new "$ws/dangling"
ln -s missing/file "$ws/nowhere"
ln -s loop "$ws/loop"
cd "$ws" || exit

# An ordinary user, whom permissions bind; the command is copied to where that one may run it.
ordinary=
if [ "$(id -u)" -eq 0 ]; then
    ordinary="setpriv --reuid 65534 --regid 65534 --clear-groups"
    chmod 755 "$tmp"
fi
cp "$BUILD/cordon" "$tmp/cordon"

cordon()
{
    "$tmp/cordon" "$@"
}

# Compares all that can be seen of a command. Its standard input is that of the caller.
expect() # NAME STATUS STDOUT STDERR COMMAND...
{
    name=$1 status=$2 stdout=$3 stderr=$4
    shift 4
    "$@" >"$tmp/stdout" 2>"$tmp/stderr"
    got=$?
    if [ $got -ne "$status" ]; then
        fail "$name" "exit status $got, not $status: $(cat "$tmp/stderr")"
    elif ! printf '%s' "${stdout:+$stdout
}" | cmp -s - "$tmp/stdout"; then
        fail "$name" "printed: $(cat "$tmp/stdout")"
    elif ! printf '%s' "${stderr:+$stderr
}" | cmp -s - "$tmp/stderr"; then
        fail "$name" "said: $(cat "$tmp/stderr")"
    else
        pass "$name"
    fi
}

inside() # NAME PLACE ARG...
{
    name=$1 place=$2
    shift 2
    expect "$name" 0 "$place" "" cordon resolve "$@"
}

refused() # NAME REASON ARG...: the last one is the path
{
    name=$1 reason=$2
    shift 2
    for path; do :; done
    expect "$name" 1 "" "cordon: ${path:-\"\"}: $reason" cordon resolve "$@"
}

usage() # NAME LINE ARG...
{
    name=$1 line=$2
    shift 2
    expect "$name" 125 "" "cordon: $line (see cordon --help)" cordon "$@"
}

bad_root() # NAME REASON ROOT
{
    expect "$1" 125 "" "cordon: ${3:-\"\"}: cannot be the workspace: $2" cordon resolve -C "$3" x
}

missing="No such file or directory"
outside="leads outside the workspace"
long="the path or a name in it is too long"

# Options.
inside default_root "$ws/src/main.c" src/main.c
inside root "$ws/src/main.c" --root "$ws" src/main.c
inside root_with_equals "$ws/src/main.c" --root="$ws" src/main.c
inside root_short "$ws/src/main.c" -C "$ws" src/main.c
inside root_relative "$ws/src/main.c" -C src main.c
inside root_dotdot "$ws/src/main.c" -C ../ws-evil/../ws src/main.c
inside root_is_a_link "$ws/src/main.c" -C in main.c
inside root_slash /etc/passwd -C / etc/passwd
inside mode_short "$ws/new/file" -m clean new/file
inside double_dash "$ws/-x" -- -x
inside after_a_path "$ws/src
$ws/-0" src -0
inside several "$ws/src
$ws/src/main.c
$ws" src in/main.c .
cordon resolve -0 src "$(printf 'a\nb')" | tr '\0\n' '\n|' >"$tmp/list"
expect nul 0 "$ws/src
$ws/a|b" "" cat "$tmp/list"
expect version 0 "cordon $(sed -n 's/^VERSION = //p' "$TOP/Makefile")" "" cordon --version
expect version_of_resolve 0 "$(cordon -V)" "" cordon resolve --version
cordon --help >"$tmp/help"
check help grep -q ' cordon resolve ' "$tmp/help"
expect help_of_resolve 0 "$(cat "$tmp/help")" "" cordon resolve -h

# Kernel mode.
inside absolute "$ws/src/main.c" "$ws/src/main.c"
inside link "$ws/src/main.c" in/main.c
inside dotdot_where_it_really_is "$ws" in/..
inside new_file "$ws/src/new" src/new
inside slashes "$ws/src" .//src/./
refused missing_parent "$missing" new/file
refused dangling_inside "$missing" nowhere
refused not_a_directory "not a directory" src/main.c/x
refused file_with_slash "not a directory" src/main.c/
refused loop "too many symbolic links" loop
refused empty "the path is empty" ""

# The other modes.
inside clean_new "$ws/new/nested/file.txt" --mode clean new/nested/file.txt
inside clean_text_first "$ws/src" --mode clean missing/../src
inside clean_empty "$ws" --mode clean ""
refused clean_dangling_inside "$missing" --mode clean nowhere
inside strict_new "$ws/src/new" --mode strict src/new
refused strict_missing_parent "$missing" --mode strict new/nested/file.txt
refused strict_empty "the path is empty" --mode strict ""
refused strict_dotdot 'has a ".." component, which strict mode refuses' --mode strict src/../src

# What leads outside, in every mode.
for mode in kernel clean strict; do
    refused "$mode"_link "$outside: $tmp/ws-evil" --mode $mode out
    refused "$mode"_through_link "$outside: $tmp/ws-evil/secret" --mode $mode out/secret
    refused "$mode"_new_through_link "$outside: $tmp/ws-evil/x" --mode $mode out/x
    refused "$mode"_dangling "$outside: $tmp/ws-evil/new" --mode $mode dangling
    refused "$mode"_absolute "$outside: /etc/passwd" --mode $mode /etc/passwd
    refused "$mode"_neighbour "$outside: $tmp/ws-evil/secret" --mode $mode "$tmp/ws-evil/secret"
    refused "$mode"_parent "$outside: $tmp" --mode $mode "$tmp"
    refused "$mode"_descriptor "$outside: $tmp/ws-evil" --mode $mode /proc/self/fd/0 <"$tmp/ws-evil"
    [ $mode = strict ] || refused "$mode"_dotdot "$outside: $tmp" --mode $mode src/../..
    expect "$mode"_passwd 1 "" "cordon: ../etc/passwd: $(
        case $mode in
        kernel) echo "$missing" ;;
        clean) echo "$outside: $tmp/etc/passwd" ;;
        strict) echo 'has a ".." component, which strict mode refuses' ;;
        esac
    )" cordon resolve --mode $mode ../etc/passwd
done
inside control_descriptor "$ws/src" /proc/self/fd/0 <src
expect one_refused_of_three 1 "$ws/src
$ws/in2" "cordon: out: $outside: $tmp/ws-evil" cordon resolve src out in2

# Standard input.
printf 'src\nin/main.c\n' >"$tmp/list"
inside stdin "$ws/src
$ws/src/main.c" - <"$tmp/list"
inside stdin_among_others "$ws/a
$ws/src
$ws/src/main.c
$ws/b" a - b <"$tmp/list"
printf 'src' >"$tmp/list"
inside stdin_without_last_newline "$ws/src" - <"$tmp/list"
inside stdin_empty "" - </dev/null
inside dash_as_a_name "$ws/-" ./-
printf 'src\n\n-\nout\n' >"$tmp/list"
expect stdin_refused 1 "$ws/src
$ws/-" "cordon: \"\": the path is empty
cordon: out: $outside: $tmp/ws-evil" cordon resolve - <"$tmp/list"
printf 'a\0b\nsrc\n' >"$tmp/list"
expect stdin_nul_byte 1 "$ws/src" "cordon: a: a path cannot hold a NUL byte" \
    cordon resolve - <"$tmp/list"
expect stdin_directory 125 "" "cordon: standard input: Is a directory" cordon resolve - </etc
expect stdin_closed 125 "" "cordon: standard input: Bad file descriptor" cordon resolve - <&-

# Each line is answered before the next one is read.
mkfifo "$tmp/question" "$tmp/answer"
timeout 60 "$tmp/cordon" resolve - <"$tmp/question" >"$tmp/answer" &
exec 3>"$tmp/question" 4<"$tmp/answer"
echo src >&3
read -r line <&4
check stdin_answers_at_once test "$line" = "$ws/src"
exec 3>&- 4<&-
wait

# Long and strange names.
bytes() # COUNT TEXT
{
    yes "$2" | tr -d '\n' | head -c "$1"
}

too_long() # TEXT: the line for a path that is many times TEXT
{
    echo "cordon: $(bytes 200 "$1")[...]$(bytes 200 "$1"): $long"
}

inside longest_path "$ws/a" "$(bytes 4094 ./)a"
expect path_of_4096 1 "" "$(too_long ./)" cordon resolve "$(bytes 4096 ./)"
bytes 100000 src/ >"$tmp/list"
for mode in kernel clean strict; do
    expect path_of_100000_"$mode" 1 "" "$(too_long src/)" cordon resolve -m $mode - <"$tmp/list"
done
inside longest_name "$ws/$(bytes 255 n)" "$(bytes 255 n)"
refused name_of_256 "$long" "$(bytes 256 n)"
strange=$(printf 'a\nb\377')
mkdir "$strange"
inside newline_and_no_utf8 "$ws/$strange" "$strange"
expect shown_on_one_line 1 "" "cordon: a\\nb\\xff/x\\x1b\\\\/y: $missing" \
    cordon resolve "$(printf '%s/x\033\\/y' "$strange")"
expect shown_where_it_leads 1 "" \
    "cordon: $tmp/\\x07: $outside: $tmp/\\x07" cordon resolve "$(printf '%s/\a' "$tmp")"

# Roots.
bad_root root_missing "$missing" gone
bad_root root_is_a_file "not a directory" src/main.c
bad_root root_is_a_dangling_link "$missing" nowhere
bad_root root_is_a_loop "too many symbolic links" loop
bad_root root_empty "the path is empty" ""
mkdir "$tmp/removed"
cd "$tmp/removed" && rmdir "$tmp/removed"
expect root_removed 125 "" "cordon: .: cannot be the workspace: $missing" cordon resolve x
expect control_removed 0 "$ws/src" "" cordon resolve -C "$ws" src
cd "$ws" || exit
mkdir -p "$tmp/locked/root" "$tmp/shut"
chmod 000 "$tmp/locked" "$tmp/shut"
# shellcheck disable=SC2086 # words
if $ordinary test -x "$tmp/cordon"; then
    expect root_unreachable 125 "" \
        "cordon: $tmp/locked/root: cannot be the workspace: Permission denied" \
        $ordinary "$tmp/cordon" resolve -C "$tmp/locked/root" x
    expect root_unreadable 1 "" "cordon: x: Permission denied" \
        $ordinary "$tmp/cordon" resolve -C "$tmp/shut" x
    inside control_user "$ws/src" src
else
    skip root_unreachable "no ordinary user may reach $tmp"
fi
chmod 755 "$tmp/locked" "$tmp/shut"

# Bad usage.
usage no_command "what is it to do? To run a command: cordon -- COMMAND"
usage unknown_command 'there is no command "resolv": did you mean resolve? To run it: cordon -- resolv' \
    resolv x
usage option_before_command 'put -- before "x" to run it' -C . x
usage no_path "resolve wants a path" resolve
usage no_path_after_options "resolve wants a path" resolve -0 --
usage unknown_long "resolve has no option --rot" resolve --rot . x
usage unknown_short "resolve has no option -x" resolve --root=. -0x0 y
usage unwanted_value "resolve has no option --help=me" resolve --help=me
usage missing_value_long "a value is missing after --mode" resolve --mode
usage missing_value_short "a value is missing after -C" resolve -C
usage unknown_mode '--mode is kernel, clean or strict, not "clena"' resolve --mode clena x
usage newline_in_usage 'there is no command "aaa\nbbb". To run it: cordon -- aaa\nbbb' \
    "$(printf 'aaa\nbbb')"

# Lost output is an error.
full() # ARG...
{
    "$tmp/cordon" "$@" >/dev/full
}

closed() # ARG...
{
    "$tmp/cordon" "$@" >&-
}

no_space="cordon: standard output: No space left on device"
expect disk_full 125 "" "$no_space" full resolve src
expect disk_full_help 125 "" "$no_space" full --help
expect disk_full_version 125 "" "$no_space" full resolve -V
# shellcheck disable=SC2046 # words
expect disk_full_early 125 "" "$no_space" full resolve $(seq 5000)
yes | timeout 60 "$tmp/cordon" resolve - >/dev/full 2>"$tmp/stderr"
check disk_full_ends_reading test "$(cat "$tmp/stderr")" = "$no_space"
expect output_closed 125 "" "cordon: standard output: Bad file descriptor" closed resolve src
expect refusal_needs_no_output 1 "" "cordon: out: $outside: $tmp/ws-evil" full resolve out

summary
