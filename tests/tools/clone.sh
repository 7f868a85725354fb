# In a clean clone the first use of scripts/cordon builds it, wherever the user stands, and only the
# answer is on standard output. This is about what is committed.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"

tmp=$(readlink -f "$tmp")
clone=$tmp/clone
mkdir "$tmp/bin" "$tmp/made"

# Whoever installs something although nothing is missing leaves a trace.
for tool in apt-get sudo; do
    printf '#!/bin/sh\necho "%s $*" >>%s/made/installs\nexit 100\n' $tool "$tmp" >"$tmp/bin/$tool"
    chmod 755 "$tmp/bin/$tool"
done
PATH=$tmp/bin:$PATH

# As an ordinary user too: for root that is somebody else.
user=
if [ "$(id -u)" -eq 0 ]; then
    user="setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=$tmp/made"
    chmod 755 "$tmp"
    chmod 777 "$tmp/made"
fi

if ! reason=$(git -C "$TOP" rev-parse --verify HEAD 2>&1); then
    skip clone "no git repository: $(printf '%s\n' "$reason" | head -n 1)"
    summary
    exit
elif ! git -C "$TOP" cat-file -e HEAD:scripts/cordon; then
    skip clone "scripts/cordon is not committed"
    summary
    exit
fi

fresh_clone()
{
    rm -rf "$clone"
    git clone -q --no-hardlinks "$TOP" "$clone" || return
    [ -z "$user" ] || chown -R 65534:65534 "$clone"
}

# Runs scripts/cordon in the directory DIR of the clone.
in_clone() # DIR COMMAND...
{
    (cd "$clone/$1" && shift && exec "$@" >"$tmp/stdout" 2>"$tmp/stderr")
}

says() # TEXT: nothing else is on standard output
{
    [ "$(cat "$tmp/stdout")" = "$1" ] || {
        cat "$tmp/stdout" "$tmp/stderr"
        return 1
    }
}

silent()
{
    [ ! -s "$tmp/stderr" ] || {
        cat "$tmp/stderr"
        return 1
    }
}

check clone fresh_clone
# shellcheck disable=SC2086 # words
check first_run in_clone . $user ./scripts/cordon resolve resolver/cordon.h
check first_answer says "$clone/resolver/cordon.h"
check first_run_is_quiet_with_nothing_to_install silent
# shellcheck disable=SC2086 # words
check second_run in_clone . $user ./scripts/cordon resolve resolver/cordon.h
check second_answer says "$clone/resolver/cordon.h"
check second_run_is_silent silent
check from_a_subdirectory in_clone tests/tools ../../scripts/cordon resolve lib.sh
check answer_in_a_subdirectory says "$clone/tests/tools/lib.sh"
ln -s "$clone/scripts/cordon" "$tmp/bin/linked"
check by_a_link in_clone tests linked resolve run
check answer_by_a_link says "$clone/tests/run"
check nothing_left_in_the_tree test -z "$(git -c safe.directory="$clone" -C "$clone" status --porcelain)"

# A refusal keeps its status; arguments and standard input come through.
in_clone . ./scripts/cordon resolve /etc/passwd
check status_of_a_refusal test $? -eq 1
printf 'tests/run\n' >"$tmp/list"
check standard_input in_clone . ./scripts/cordon resolve - <"$tmp/list"
check answer_to_standard_input says "$clone/tests/run"

# The build settings of the caller are not meant for it, and a changed source is built again.
touch "$clone/resolver/walk.c"
check other_settings in_clone . env CC=false CFLAGS=-broken BUILD=/nowhere MAKEFLAGS=-n \
    ./scripts/cordon resolve tests/run
check built_again test "$clone/build/cordon" -nt "$clone/resolver/walk.c"

# From a subdirectory at the very first, and two at once.
check clone_again fresh_clone
# shellcheck disable=SC2086 # words
in_clone tests $user ../scripts/cordon resolve run &
other=$!
# shellcheck disable=SC2086 # words
first=$(cd "$clone/resolver" && $user ../scripts/cordon resolve cordon.h 2>/dev/null)
wait $other
check two_at_once test $? -eq 0
check both_answer test "$first" = "$clone/resolver/cordon.h"
check other_answers says "$clone/tests/run"

check nothing_was_installed test ! -e "$tmp/made/installs"

# Without make there is a line that says so, and no answer.
check clone_without_make fresh_clone
mkdir "$tmp/few"
ln -s /usr/bin/* /bin/* "$tmp/few/" 2>/dev/null
rm -f "$tmp/few/make" "$tmp/few/apt-get" "$tmp/few/sudo"
in_clone . env PATH="$tmp/bin:$tmp/few" ./scripts/cordon resolve tests/run
check status_without_make test $? -eq 125
check no_answer_without_make says ""
check says_what_to_install grep -qx 'bootstrap: please install: make' "$tmp/stderr"

summary
