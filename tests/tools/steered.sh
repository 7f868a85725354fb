# What one run leaves behind in the workspace must not choose what the next one may reach.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"

cordon=$BUILD/cordon
tmp=$(readlink -f "$tmp")
mkdir -p "$tmp/home/.ssh" "$tmp/ws/venv"
export HOME="$tmp/home" PATH="/usr/bin:/bin"
unset XDG_CACHE_HOME
echo secret >"$HOME/.ssh/id"
cd "$tmp/ws" || exit

refused() # COMMAND...: and the secret is not told
{
    out=$("$@" 2>&1) && return 1
    case $out in *secret*) return 1 ;; esac
}

check control_the_secret_can_be_read grep -q secret "$HOME/.ssh/id"

# A directory of PATH that has become a link.
check make_a_link "$cordon" -- ln -s "$HOME/.ssh" venv/bin
check path_does_not_follow_it refused env PATH="$PWD/venv/bin:$PATH" "$cordon" -- cat "$HOME/.ssh/id"
check nor_by_another_name refused sh -c "ln -s '$PWD/venv' '$tmp/alias' &&
    PATH='$tmp/alias/bin:$PATH' exec '$cordon' -- cat '$HOME/.ssh/id'"
rm venv/bin "$tmp/alias"
mkdir venv/bin
printf '#!/bin/sh\necho tool\n' >venv/bin/tool
chmod 755 venv/bin/tool
check a_real_one_works test "$(PATH="$PWD/venv/bin:$PATH" "$cordon" -- tool)" = tool

# The cache of a run, when somebody has put a link in its place.
# shellcheck disable=SC2016 # for the shell inside
check make_a_cache "$cordon" -- sh -c 'mkdir -p "$npm_config_cache"'
cache=$(echo "$HOME"/.cache/cordon/*)
check there_is_one test -d "$cache"
rm -rf "$cache"
ln -s "$HOME/.ssh" "$cache"
check no_cache_by_a_link refused "$cordon" -- cat "$HOME/.ssh/id"
check none_in_the_workspace test -z "$(XDG_CACHE_HOME="$PWD/cache" "$cordon" --print | grep "$PWD/cache")"

# The log.
check a_log "$cordon" -l log -- true
ln -sf "$HOME/.ssh/id" log
check no_log_by_a_link refused "$cordon" -l log -- cat "$HOME/.ssh/id"
ln -s "$HOME/.ssh" logs
check nor_by_a_link_on_the_way refused "$cordon" -l logs/id -- cat "$HOME/.ssh/id"
mkfifo pipe
check a_fifo_does_not_hold_it_up refused timeout 5 "$cordon" -l pipe -- true
check nothing_was_made_outside test "$(ls "$HOME/.ssh")" = id

# Whatever the umask, and however deep: the private directory works and goes.
TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
# shellcheck disable=SC2016 # for the shell inside
check any_umask sh -c 'umask 277; exec "$1" -- sh -c "umask 077; echo x >\$TMPDIR/x"' sh "$cordon"
# shellcheck disable=SC2016 # for the shell inside
check a_deep_tree "$cordon" -- sh -c 'cd "$TMPDIR"
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir d e && touch e/f && cd d || exit; done; chmod 0 .'
check nothing_left test -z "$(ls -A "$TMPDIR")"

summary
