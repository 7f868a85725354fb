# A terminal's keys and signals do under cordon what they do without: to a command that a shell runs
# as its job, and inside, to a shell with jobs of its own.
#
# Every script is played three times: bare, where it shows that it is right, and with each backend.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"
need_shim terminal

tmp=$(readlink -f "$tmp")
mkdir "$tmp/ws"
cd "$tmp/ws" || exit
command -v bash >/dev/null || { skip terminal "package bash"; summary; exit; }
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -o "$tmp/pty" "$TOP/tests/tools/pty.c" -lutil || exit
seq 100 >numbers

# The prompt and what is typed are shown too: the arithmetic tells an answer from its question.
# shellcheck disable=SC2016 # the shell on the terminal expands it
jobs_inside='> PS1="ok> "; echo ready-$((1+1))
< ready-2
> sh -c "echo up-\$((1+1)); exec sleep 100"
< up-2
^ Z
< Stopped
> jobs; echo jobs-$((1+1))
< Stopped
< jobs-2
> bg %1; echo bg-$((1+1))
< bg-2
< ok> 
> fg
< sleep 100
. 0.3
^ C
< ok> 
> echo status=$?
< status=130
> (trap "echo caught-\$((1+1)); exit 3" INT; echo up-$((2+1)); read -r line); echo status=$?
< up-3
. 0.2
^ C
< caught-2
< status=3
> stty size
< 24 80
= 30 100
> stty size
< 30 100
> sh -c "echo up-\$((6+1)); exec cat"
< up-7
> typed
< typed
< typed
^ D
< ok> 
> sleep 100 & kill %1; wait; echo killed-$((1+1))
< killed-2
> cat & sleep 0.2; jobs; echo tty-$((1+1))
< Stopped
< tty-2
> kill -9 %1; wait; echo gone-$((1+1))
< gone-2
> test -t 0 && test -t 1 && (: </dev/tty) && echo tty-$((2+1))
< tty-3
> sh -c "echo up-\$((5+1)); sleep 100 | cat"
< up-6
^ \
< ok> 
> echo status=$?
< status=131
> exit 7
'
# shellcheck disable=SC2016
job_outside='> PS1="ok> "; echo ready-$((1+1))
< ready-2
> $C sh -c "echo up-\$((1+1)); exec sleep 100"
< up-2
^ Z
< Stopped
> jobs; echo jobs-$((1+1))
< Stopped
< jobs-2
> fg
< sleep 100
. 0.3
^ C
< ok> 
> echo status=$?
< status=130
> $C sh -c "trap \"echo caught-\$((1+1)); exit 3\" INT; echo up-\$((2+1)); read -r line"; echo status=$?
< up-3
. 0.2
^ C
< caught-2
< status=3
> $C sh -c "kill -TERM \$\$"; echo status=$?
< status=143
> $C sh -c "exit 9"; echo status=$?
< status=9
> $C stty size
< 24 80
> $C sh -c "trap \"stty size\" WINCH; echo up-\$((3+1)); while :; do sleep 0.05; done"
< up-4
= 31 101
< 31 101
^ C
< ok> 
> echo status=$?
< status=130
> $C sh -c "echo up-\$((6+1)); exec cat"
< up-7
> typed
< typed
< typed
^ D
< ok> 
> $C cat & sleep 1; jobs; echo tty-$((1+1))
< Stopped
< tty-2
> fg
< cat
. 0.3
> typed again
< typed again
< typed again
^ D
< ok> 
> echo fg-$((1+1))
< fg-2
> $C sh -c "echo up-\$((4+1)); exec sleep 100" &
< up-5
> kill %%; wait; echo killed-$((1+1))
< killed-2
> $C less numbers
< 10
. 0.2
> q
< ok> 
> echo less-$((1+1))
< less-2
> $C sh -c "echo up-\$((5+1)); sleep 100 | cat"
< up-6
^ \
< ok> 
> echo status=$?
< status=131
> yes | $C head -n 1; echo pipe-$((1+1))
< pipe-2
> exit 7
'

# The terminal has a name, by which it can be opened.
# shellcheck disable=SC2016
named='> PS1="ok> "; tty && echo shown >$(tty); exit 7
< /dev/pts/
< shown
'
# New terminals can be made inside.
# shellcheck disable=SC2016
newly='> script -qec "tty; stty size" /dev/null; exit 7
< /dev/pts/
< 24 80
'

# The shell's own words differ with the locale.
shell="env -i HOME=$tmp PATH=$PATH LC_ALL=C TERM=xterm INPUTRC=/dev/null"

play() # NAME SCRIPT COMMAND...
{
    name=$1 script=$2
    shift 2
    printf '%s' "$script" | timeout 120 "$@" >"$tmp/shown" 2>"$tmp/said"
    status=$?
    if [ $status -eq 7 ]; then
        pass "$name"
    else
        fail "$name" "exit status $status: $(cat "$tmp/said")"
        tail -n 12 "$tmp/shown" | tr -d '\r' | sed 's/^/    /'
    fi
}

# shellcheck disable=SC2086 # words
play_all() # NAME CORDON
{
    play "$1 jobs_inside" "$jobs_inside" "$tmp/pty" $shell $2 bash --norc --noprofile -i
    play "$1 new" "$newly" "$tmp/pty" $shell $2 bash --norc --noprofile -i
    play "$1 job_outside" "$job_outside" "$tmp/pty" $shell C="$2" bash --norc --noprofile -i
}

# shellcheck disable=SC2086 # words
play_name() # NAME CORDON
{
    play "$1 name" "$named" "$tmp/pty" $shell $2 bash --norc --noprofile -i
}

play_all bare ""
play_name bare ""
for backend in landlock bwrap; do
    if "$BUILD/cordon" run -b $backend -- true 2>"$tmp/why"; then
        play_all $backend "$BUILD/cordon run -b $backend --"
        # bwrap has terminals of its own, among which this one has no name.
        [ $backend = bwrap ] || play_name $backend "$BUILD/cordon run -b $backend --"
    elif [ $backend = bwrap ] && ! command -v bwrap >/dev/null; then
        skip $backend "package bubblewrap"
    else
        skip $backend "$(head -n 1 "$tmp/why")"
    fi
done
summary
