# Real programs do inside what they do without cordon, and nothing outside.
#
# Each file of tests/tools/programs is one case: shell functions `inside`, work in the current
# directory, and `outside`, one way out; `setup`, if there is one, prepares the workspace beforehand
# without cordon; and `change`, if there is one, which appends to $OUT/secret, which may be read then.
# Lines at its head say more:
#     # needs COMMAND: REASON     skipped for that reason where there is no such command
#     # vague: PATTERN            files whose content differs from run to run, as for find -path
#     # unshimmed: yes            runs a program that the shim cannot enter: native refuses it
#     # home: real                runs with the HOME and the PATH of the caller
#     # landlock: OPTIONS         for cordon run with that backend, or bwrap
#     # path: DIRECTORY           of HOME, is the first one in PATH
#
# A case is run bare, by `cordon run` with each backend, and with the shim preloaded by hand, each time
# at the same place, which is made afresh:
#     $tmp/ws        the workspace
#     $tmp/home      HOME, with an identity for git
#     $tmp/outside   $OUT: a file and a repository that hold a secret
# `inside` has to print the same, to exit with the same status and to leave the same tree behind.
# `outside` has to bring the secret in or to change something out there when it is bare, and to fail
# and do neither when it is confined. `change` has to change it when it is bare, and not to when it is
# confined.
#
# By `cordon run` a program that the shim cannot enter leaves a record: of `change` with each backend, of `outside` not with bwrap,
# where what lies outside is not there.
#
# By root some cases are run once more as an ordinary user.
#
# usage: tests/run tests/tools/programs.sh, with CASES="git tar" for some of them and BACKENDS="bwrap";
# the backend "again" is bare once more: what fails with it is no good as a case.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"

need_shim programs
umask 022
tmp=$(readlink -f "$tmp")
cases=$TOP/tests/tools/programs
ws=$tmp/ws home=$tmp/home out=$tmp/outside scratch=$tmp/scratch
log=$scratch/log more=
secret=the-magic-words-are-squeamish-ossifrage
system_path=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
real_home=${HOME-/} real_path=$PATH
mkdir "$tmp/bin" "$tmp/result"
cp "$BUILD/cordon" "$BUILD/libcordon-shim.so" "$tmp/bin/"

# --- the place ------------------------------------------------------------------------------------

git_there()
{
    command -v git >/dev/null
}

# The outside repository is made once and copied: its hashes are the same every time anyway.
make_models()
{
    mkdir -p "$tmp/model/home" "$tmp/model/outside/dir" "$tmp/model/ws"
    cat >"$tmp/model/home/.gitconfig" <<END
[user]
	name = Ada Example
	email = ada@example.invalid
[pack]
	threads = 1
[gc]
	auto = 0
END
    echo "$secret" >"$tmp/model/outside/secret"
    echo "$secret" >"$tmp/model/outside/dir/file"
    printf '#!/bin/sh\necho %s\n' "$secret" >"$tmp/model/outside/tool"
    chmod 755 "$tmp/model/outside/tool"
    ! git_there || HOME=$tmp/model/home sh -ec '
        git init -q -b main "$1" && cd "$1"
        cp ../secret . && git add secret && git commit -q -m secret
    ' sh "$tmp/model/outside/repo"
}

fresh()
{
    chmod -R u+rwx "$ws" 2>/dev/null
    rm -rf "$ws" "$home" "$out" "$scratch"
    cp -a "$model/ws" "$ws" && cp -a "$model/home" "$home" && cp -a "$model/outside" "$out" &&
        mkdir "$scratch" &&
        { [ -z "$as" ] || chown -R 65534:65534 "$ws" "$home" "$out" "$scratch"; }
}

# What cordon keeps for the workspace between runs is in its place there.
beyond()
{
    tree "$out"
    [ "$case_home" != "$home" ] || {
        rm -rf "$home/.cache/cordon"
        [ ! -d "$home/.cache" ] || rmdir --ignore-fail-on-non-empty "$home/.cache"
        tree "$home"
    }
}

# A line for each file: kind, mode, owner, links, name, target, and the sum of what is in it.
tree() # DIRECTORY PATTERN...
{
    (
        cd "$1" || exit
        shift
        find . ! -type f -printf '%p: %y %m %U:%G %l\n'
        find . -type f -printf '%p: %y %m %U:%G %n\n'
        for pattern; do
            set -- "$@" ! -path "$pattern"
            shift
        done
        find . -type f "$@" -exec sha256sum {} +
    ) | sort
}

# --- running --------------------------------------------------------------------------------------

# What a confined program may keep of the environment; nothing of the caller's is in it.
bare() # COMMAND...
{
    (
        # shellcheck disable=SC2086 # words
        cd "$ws" && exec $as env -i HOME="$case_home" PATH="$case_path" LC_ALL=C TZ=UTC TERM=xterm \
            OUT="$out" TMPDIR="$scratch" GIT_AUTHOR_DATE='1700000000 +0000' \
            GIT_COMMITTER_DATE='1700000000 +0000' "$@"
    )
}

# Without `cordon run` nobody moves the caches out of the home directory.
with_caches() # COMMAND...
{
    bare npm_config_cache="$scratch/npm" PIP_CACHE_DIR="$scratch/pip" CARGO_HOME="$scratch/cargo" "$@"
}

by_hand() # COMMAND...
{
    with_caches LD_PRELOAD="$tmp/bin/libcordon-shim.so" CORDON_ROOT="$ws" CORDON_WRITE="$scratch" \
        CORDON_BACKEND=native "$@"
}

on_side() # SIDE COMMAND...
{
    side=$1
    shift
    case $side in
    bare | again) with_caches "$@" ;;
    native) by_hand "$@" ;;
    *)
        # shellcheck disable=SC2046,SC2086 # words
        bare "$tmp/bin/cordon" run -C "$ws" -b "$side" -l "$log" $more $(directive "$side") -- "$@"
        ;;
    esac
}

# Sets the case up once; from then on a fresh place is one that is set up.
prepare()
{
    model=$tmp/model
    fresh
    grep -q '^setup()' "$case_file" || return 0
    with_caches sh -euc "$script; setup" setup >"$tmp/said" 2>&1 || return
    model=$tmp/prepared
    rm -rf "$model"
    mkdir "$model" && cp -a "$ws" "$home" "$out" "$model"
}

# Runs one function of the case in a fresh place, and keeps all that can be seen of it.
run_half() # SIDE inside|outside|change
{
    result=$tmp/result/$1.$2
    fresh
    on_side "$1" sh -euc "$script; $2" "$case_name" >"$result.stdout" 2>"$result.stderr" </dev/null
    echo $? >"$result.status"
    # shellcheck disable=SC2086 # patterns
    (set -f && tree "$ws" $vague) >"$result.tree"
    beyond >"$result.beyond"
}

# --- comparing ------------------------------------------------------------------------------------

seen() # FILE: the first lines of what differs
{
    sed 's/^/    /' "$1" | head -n "${SEEN:-20}"
}

same_inside() # SIDE
{
    for kind in status stderr stdout tree; do
        diff "$tmp/result/bare.inside.$kind" "$tmp/result/$1.inside.$kind" >"$tmp/difference" && continue
        fail "$case_name $1 inside" "$kind differs from bare"
        seen "$tmp/difference"
        [ $kind != status ] || seen "$tmp/result/$1.inside.stderr"
        return
    done
    pass "$case_name $1 inside"
}

# Whether the secret came in, by whatever way, or anything beyond the workspace changed.
escaped() # SIDE
{
    grep -q "$secret" "$tmp/result/$1.outside.stdout" "$tmp/result/$1.outside.stderr" ||
        grep -rqs "$secret" "$ws" || ! cmp -s "$tmp/beyond" "$tmp/result/$1.outside.beyond"
}

refused_outside() # SIDE
{
    if escaped "$1"; then
        fail "$case_name $1 outside" "it got out"
        diff "$tmp/beyond" "$tmp/result/$1.outside.beyond" >"$tmp/difference"
        seen "$tmp/difference"
        seen "$tmp/result/$1.outside.stdout"
    elif [ "$(cat "$tmp/result/$1.outside.status")" -eq 0 ]; then
        fail "$case_name $1 outside" "exit status 0"
        seen "$tmp/result/$1.outside.stderr"
    else
        pass "$case_name $1 outside"
    fi
}

# Whether a refusal of something outside is in the log, with what would allow it.
is_recorded()
{
    grep '"verdict":"deny"' "$log" 2>/dev/null | grep "\"resolved\":\"$tmp/" | grep -q '"hint":"[^"]'
}

recorded() # SIDE HALF
{
    if [ "$1" = native ]; then
        return
    elif is_recorded; then
        pass "$case_name $1 $2 recorded"
    else
        fail "$case_name $1 $2 recorded" "no record"
        [ ! -e "$log" ] || seen "$log"
    fi
}

has_changed() # SIDE
{
    ! cmp -s "$tmp/beyond" "$tmp/result/$1.change.beyond"
}

not_changed() # SIDE
{
    if has_changed "$1"; then
        fail "$case_name $1 change" "it changed what it may only read"
    elif [ "$(cat "$tmp/result/$1.change.status")" -eq 0 ]; then
        fail "$case_name $1 change" "exit status 0"
    else
        pass "$case_name $1 change"
    fi
}

# What the shim cannot enter is not run at all where there is no wall.
refused_at_all() # SIDE
{
    if [ "$(cat "$tmp/result/$1.inside.status")" -eq 0 ] ||
        cmp -s "$tmp/result/bare.inside.stdout" "$tmp/result/$1.inside.stdout"; then
        fail "$case_name $1 inside" "it ran without a wall"
    else
        pass "$case_name $1 inside"
    fi
}

unchanged_beyond() # SIDE
{
    if diff "$tmp/beyond" "$tmp/result/$1.inside.beyond" >"$tmp/difference"; then
        return
    fi
    fail "$case_name $1 beyond" "work inside changed something outside"
    seen "$tmp/difference"
}

# --- the cases ------------------------------------------------------------------------------------

directive() # NAME
{
    sed -n "s/^# $1: //p" "$case_file"
}

# Prints why the case cannot be run; nothing if it can.
wanting()
{
    sed -n 's/^# needs \([^:]*\): \(.*\)/\1 \2/p' "$case_file" | while read -r command reason; do
        (PATH=$case_path && command -v "$command") >/dev/null || { echo "$reason" && break; }
    done
}

run_side() # SIDE
{
    run_half "$1" inside
    if [ "$1" = native ] && [ "$(directive unshimmed)" = yes ]; then
        refused_at_all "$1"
    else
        same_inside "$1"
    fi
    unchanged_beyond "$1"
    run_half "$1" outside
    refused_outside "$1"
    [ "$1" = bwrap ] || [ "$(directive unshimmed)" != yes ] || recorded "$1" outside
    if [ "$changes" = yes ]; then
        more="-r $out"
        run_half "$1" change
        more=
        not_changed "$1"
        recorded "$1" change
    fi
}

run_case() # NAME
{
    case_name=${as:+user }$1 case_file=$cases/$1.sh case_home=$home case_path=$system_path
    script=$(cat "$case_file") vague=$(directive vague)
    if [ "$(directive home)" = real ]; then
        case_home=$real_home case_path=$real_path
    fi
    [ -z "$(directive path)" ] || case_path=$case_home/$(directive path):$case_path
    reason=$(wanting)
    if [ -n "$reason" ]; then
        skip "$case_name" "$reason"
        return
    fi

    if ! prepare; then
        fail "$case_name setup" "exit status not 0"
        seen "$tmp/said"
        return
    fi
    beyond >"$tmp/beyond"
    run_half bare inside
    if [ "$(cat "$tmp/result/bare.inside.status")" -ne 0 ]; then
        fail "$case_name bare" "exit status $(cat "$tmp/result/bare.inside.status")"
        seen "$tmp/result/bare.inside.stderr"
        return
    fi
    run_half bare outside
    if ! escaped bare; then
        fail "$case_name control" "does not get out without cordon either"
        seen "$tmp/result/bare.outside.stderr"
        return
    fi
    changes=no
    if grep -q '^change()' "$case_file"; then
        changes=yes
        run_half bare change
        if ! has_changed bare; then
            fail "$case_name change control" "does not change it without cordon either"
            return
        fi
    fi
    for backend in $backends; do
        run_side "$backend"
    done
}

run_cases() # NAME...
{
    for name; do
        case " ${CASES:-$name} " in
        *" $name "*) run_case "$name" ;;
        esac
    done
}

# Which sides there are on this machine.
find_backends()
{
    backends=native case_file=/dev/null model=$tmp/model
    case_home=$home case_path=$system_path
    fresh
    for side in landlock bwrap; do
        if on_side $side true 2>"$tmp/why"; then
            backends="$backends $side"
        elif [ "$side" = bwrap ] && ! command -v bwrap >/dev/null; then
            skip "$side" "package bubblewrap"
        else
            skip "$side" "$(head -n 1 "$tmp/why")"
        fi
    done
}

as=
chmod 711 "$tmp"
make_models
if [ -n "${BACKENDS-}" ]; then
    backends=$BACKENDS
else
    find_backends
fi
# shellcheck disable=SC2046 # words
run_cases $(cd "$cases" && printf '%s\n' *.sh | sed 's/\.sh$//')
if [ "$(id -u)" -eq 0 ]; then
    as="setpriv --reuid 65534 --regid 65534 --clear-groups"
    run_cases bash busybox git-workspace python static
fi
summary
