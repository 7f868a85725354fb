# Where sockets lead: the host's loopback and sockets by path, and nowhere else. The servers and the
# calls are in network.c; all of it runs in a network namespace of its own, in which lo has one more
# address, so that "another address" is one that answers here and nowhere else.
#
# RACE_CONNECTS connections are made in each of the races.
# shellcheck shell=sh source=tests/tools/lib.sh
if [ -z "${NETWORK_APART-}" ] && [ "$(id -u)" -eq 0 ] && unshare -n true 2>/dev/null; then
    NETWORK_APART=yes exec unshare -n sh "$0"
fi
. "$TOP/tests/tools/lib.sh"
need_shim network
if [ -z "${NETWORK_APART-}" ]; then
    skip network "only root can make a network namespace, where the system lets him"
    summary
    exit
fi

RACE_CONNECTS=${RACE_CONNECTS:-20000}
cordon=$BUILD/cordon
tmp=$(readlink -f "$tmp")
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
server=
trap '[ -z "$server" ] || kill $server; rm -rf "$tmp"' EXIT

build() # NAME OPTION...
{
    name=$1
    shift
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -pthread "$@" -o "$tmp/$name" "$TOP/tests/tools/network.c"
}

build dynamic || exit
programs=dynamic
if build static -static 2>"$tmp/why"; then
    programs="dynamic static"
else
    skip static "package libc6-dev: $(head -n 1 "$tmp/why")"
fi

chmod 755 "$tmp"
mkdir "$tmp/out" "$tmp/granted" "$tmp/gate" "$tmp/logs" "$tmp/root" "$tmp/nobody" "$tmp/home"
chmod 777 "$tmp/out" "$tmp/granted" "$tmp/logs" "$tmp/home"
chown 65534:65534 "$tmp/nobody"
export HOME="$tmp/home"
ln -s ../out/sock "$tmp/root/link"
ln -s ../out/sock "$tmp/nobody/link"

if ! "$tmp/dynamic" setup; then
    skip network "lo cannot have another address here, or there is no IPv6"
    summary
    exit
fi
mkfifo "$tmp/ready"
"$tmp/dynamic" serve "$tmp" "$tmp/hits" >"$tmp/ready" &
server=$!
read -r word <"$tmp/ready"
[ "$word" = ready ] || exit
chmod 777 "$tmp"/*/sock "$tmp"/*/seq "$tmp"/gate/?

# --- who runs what --------------------------------------------------------------------------------

# Sets up where the next ones run; `inside` runs a command there, under cordon unless BACKEND is none.
# WAY getfd is the usual one; stand_in is where the supervisor cannot have a duplicate of a socket.
in_place() # BACKEND USER PROGRAM WAY
{
    backend=$1 user=$2 program=$tmp/$3 way=$4
    label="$1 $2 $3 $4"
    as=
    [ "$user" = root ] || as=$nobody
    hinder=
    [ "$way" = getfd ] || hinder="$tmp/dynamic without_getfd"
}

inside() # OPTION... -- COMMAND...
{
    if [ "$backend" = none ]; then
        while [ "$1" != -- ]; do shift; done
        shift
        # shellcheck disable=SC2086 # words
        env -C "$tmp/$user" $as "$@"
    else
        # shellcheck disable=SC2086 # words
        env -C "$tmp/$user" $as $hinder timeout -k 5 120 "$cordon" run -b "$backend" -r "$tmp" -u "$tmp/granted" "$@"
    fi
}

same() # FILE FILE: shows where they differ
{
    diff "$1" "$2"
}

# --- reaching others ------------------------------------------------------------------------------

# What each call comes to: the name of the server that answered, or an error. With ONE/OTHER, the
# first is for landlock and the second for bwrap, which has a network of its own if it is denied.
# (A route by way of others is root's alone, and cordon leaves root no such right.)
#
#    call             without cordon   loopback     :7002,53  deny      open
table()
{
    cat <<'END'
    tcp4               loopback4        loopback4    EACCES    EACCES    loopback4
    far                far              far          EACCES    EACCES    far
    tcp6               loopback6        loopback6    EACCES    EACCES    loopback6
    mapped             loopback4        loopback4    EACCES    EACCES    loopback4
    any4               loopback4        loopback4    EACCES    EACCES    loopback4
    any6               loopback6        loopback6    EACCES    EACCES    loopback6
    mapped_any         loopback4        loopback4    EACCES    EACCES    loopback4
    second             second           second       second    EACCES    second
    other4             other4           EACCES       EACCES    EACCES    other4
    other6             other6           EACCES       EACCES    EACCES    other6
    mapped_other       other4           EACCES       EACCES    EACCES    other4
    dns                dns              EACCES       dns       EACCES    dns
    stub               stub             EACCES       stub      EACCES    stub
    unspec             0,loopback4,0,other4,loopback4 0,loopback4,0,EACCES,loopback4 0,EACCES,0,EACCES,EACCES 0,EACCES,0,EACCES,EACCES 0,loopback4,0,other4,loopback4
    later              loopback4        loopback4    EACCES    EACCES    loopback4
    later_other        other4           EACCES       EACCES    EACCES    other4
    watched            loopback4        loopback4    EACCES    EACCES    loopback4
    fast_sendto        loopback4        EACCES       EACCES    EACCES    loopback4
    fast_sendmsg       loopback4        EACCES       EACCES    EACCES    loopback4
    fast_sendmmsg      loopback4        EACCES       EACCES    EACCES    loopback4
    fast_connect       loopback4        loopback4    EACCES    EACCES    loopback4
    fast_connect_other other4           EACCES       EACCES    EACCES    other4
    mptcp              0                EACCES       EACCES    EACCES    EACCES
    udp                udp              EACCES       EACCES    EACCES    udp
    udp6               0                EACCES       EACCES    EACCES    0
    ip_options         0                EPERM        EPERM     EPERM     EPERM
    ipv6_rthdr         0                EPERM        EPERM     EPERM     0
    bindtodevice       0                EPERM        EPERM     EPERM     0
    bindtoifindex      0                EPERM        EPERM     EPERM     0
    unicast_if         0                EPERM        EPERM     EPERM     0
    nodelay            0                0            0         0         0
    own4               own              own          EACCES    EACCES    own
    flags              --,N-,-C,NC      --,N-,-C,NC  --,N-,-C,NC --,N-,-C,NC --,N-,-C,NC
    unix_granted       granted          granted      granted   granted   granted
    unix_seq           seq              seq          seq       seq       seq
    unix_outside       outside          EACCES       EACCES    EACCES    EACCES
    unix_link          outside          EACCES       EACCES    EACCES    EACCES
    unix_relative      outside          EACCES       EACCES    EACCES    EACCES
    unix_missing       ENOENT           ENOENT       ENOENT    ENOENT    ENOENT
    unix_own           own              own          own       own       own
    unix_own_seq       own              own          own       own       own
    unix_bind_granted  0                0/EROFS      0/EROFS   0/EROFS   0/EROFS
    unix_bind_outside  0                EACCES       EACCES    EACCES    EACCES
    abstract           abstract         EACCES       EACCES    EACCES/ECONNREFUSED EACCES
    abstract_own       own              own          own       own       own
    autobind           0                0            0         0         0
END
}

expected() # COLUMN
{
    first=\\1
    [ "$backend" != bwrap ] || first=\\2
    table | awk -v column="$1" '{ print $1, $column }' | sed "s,\([^ ]*\)/\(.*\),$first,"
}

# All that was heard from servers, and all that the servers heard, are the same: nobody was reached
# without our knowing.
hits_match() # FILE: what the cases said
{
    cut -d' ' -f2 "$1" | tr , '\n' | grep -xE '[a-z]+[0-9]?' | grep -vx -e own -e 'no_event' | sort >"$tmp/heard"
    # Those of `flags` do not listen to who answers.
    for _ in 1 2 3 4; do echo granted; done | sort -o "$tmp/heard" - "$tmp/heard"
    sort "$tmp/hits" | diff "$tmp/heard" -
}

cases() # NAME COLUMN NET
{
    limit=10000
    expected "$2" >"$tmp/expected"
    if [ "$way" = stand_in ] && grep -qx 'watched loopback4' "$tmp/expected"; then
        # Documented: what watches it watches a socket that is gone.
        sed -i 's/^watched .*/watched no_event/' "$tmp/expected"
        limit=50
    fi
    : >"$tmp/hits"
    rm -f "$tmp/logs/cases" "$tmp/granted/new" "$tmp/out/new"
    inside --net "$3" -l "$tmp/logs/cases" -- "$program" cases "$tmp" $limit >"$tmp/said" 2>&1
    rm -f "$tmp/$user/own" "$tmp/$user/own-seq"
    check "$1" same "$tmp/expected" "$tmp/said"
    # One that is watched in vain is connected all the same.
    if [ "$limit" = 50 ]; then
        sed -i 's/^watched .*/watched loopback4/' "$tmp/said"
    fi
    check "$1: who was reached" hits_match "$tmp/said"
}

recorded() # OP PATH HINT
{
    grep "\"op\":\"$1\"" "$tmp/logs/cases" | grep -F "\"path\":\"$2\"" | grep -F '"verdict":"deny"' |
        grep -F '"errno":13' | grep -F '"layer":"supervisor"' | grep -qF "\"hint\":\"$3"
}

records()
{
    recorded connect 10.99.0.1:7001 '--net open"' &&
        recorded connect '[fd99::1]:7001' '--net open"' &&
        recorded connect '[::ffff:10.99.0.1]:7001' '--net open"' &&
        recorded connect 127.0.0.53:53 '--net loopback:53"' &&
        recorded socket 'AF_INET SOCK_DGRAM 0' '--net open"' &&
        recorded socket 'AF_INET SOCK_STREAM 262' '--net open"' &&
        recorded sendto '' '--net open"' &&
        recorded sendmsg '' '--net open"' &&
        recorded sendmmsg '' '--net open"' &&
        recorded connect "$tmp/out/sock" "--unix $tmp/out/sock\"" &&
        recorded connect ./link "--unix $tmp/out/sock\"" &&
        recorded bind "$tmp/out/new" "--unix $tmp/out/new\"" &&
        recorded connect @cordon-network 'only what is made in here'
}

records_of_deny()
{
    recorded connect 127.0.0.1:7001 '--net loopback"' && recorded connect '[::1]:7001' '--net loopback"' &&
        recorded connect 10.99.0.1:7001 '--net open"' && recorded bind 127.0.0.1:7003 '--net loopback"'
}

# --- being reached --------------------------------------------------------------------------------

PORTS="7101 7102 7103 7104 7105 7106 7107 7108 7109 7110"

# Who listens inside, and by which addresses he is reached: 127.0.0.1, ::1, and the two others.
listening() # NET
{
    rm -f "$tmp/input" "$tmp/said"
    mkfifo "$tmp/input"
    inside --net "$1" -- "$program" listen <"$tmp/input" >"$tmp/said" 2>&1 &
    exec 3>"$tmp/input"
    while ! grep -q ready "$tmp/said" && kill -0 $! 2>/dev/null; do
        sleep 0.05
    done
    # shellcheck disable=SC2046,SC2086 # words
    "$tmp/dynamic" reach $PORTS $(sed -n 's/^unbound[46] 0 //p' "$tmp/said") |
        sed 's/ECONNREFUSED/-/g' >"$tmp/reached"
    exec 3>&-
    wait $!
    # Their ports are any.
    sed -i 's/^\(unbound. 0\) .*/\1/; s/^\(unbound. E[A-Z]*\) .*/\1/' "$tmp/said"
    sed -i '11,$s/^[0-9]*/unbound/' "$tmp/reached"
}

listens() # NET FILE: what is said and reached
{
    listening "$1"
    cat "$tmp/said" "$tmp/reached" | diff "$2" -
}

said_bare()
{
    for name in four six any4 any6 only6 unspec mapped other4 other6 mapped_other dns unbound4 unbound6; do
        echo "$name 0"
    done
    echo ready
}

reached_bare="7101 inside - - -
7102 - inside - -
7103 inside - inside -
7104 inside inside inside inside
7105 - inside - inside
7106 inside - inside -
7107 inside - - -
7108 - - inside -
7109 - - - inside
7110 - - inside -
unbound inside - inside -
unbound inside inside inside inside"

# "::" for both kinds is the loopback of IPv4.
reached_inside="7101 inside - - -
7102 - inside - -
7103 inside - - -
7104 inside - - -
7105 - inside - -
7106 inside - - -
7107 inside - - -
7108 - - - -
7109 - - - -
7110 - - - -
unbound inside - - -
unbound inside - - -"

refused_ports='s/^\(other4\|other6\|mapped_other\|dns\) 0/\1 EACCES/'
{ said_bare && echo "$reached_bare"; } >"$tmp/listens.none"
{ said_bare | sed "$refused_ports" && echo "$reached_inside"; } >"$tmp/listens.getfd"
# Documented: the option that makes it IPv6 alone is lost.
sed 's/^7105.*/7105 inside - - -/' "$tmp/listens.getfd" >"$tmp/listens.stand_in"
{
    said_bare | sed '/^four\|ready/!s/ 0/ EACCES/'
    echo "$reached_inside" | sed '/^7101/!s/inside/-/; /unbound/d'
} >"$tmp/listens.ports"

# --- both -----------------------------------------------------------------------------------------

errors() # FILE
{
    inside --net loopback -- "$program" errors >"$1" 2>&1 </dev/null
    rm -f "$tmp/$user/file" "$tmp/$user/bound"
}

same_errors()
{
    errors "$tmp/said" && same "$tmp/errors" "$tmp/said"
}

# The parent is outside: it starts cordon.
talks() # NET
{
    # shellcheck disable=SC2086 # words
    said=$(env -C "$tmp/$user" $as timeout -k 5 60 "$tmp/dynamic" handshake \
        $hinder "$cordon" run -b "$backend" -r "$tmp" --net "$1" -- "$program" plugin 2>&1)
    echo "$said"
    [ "$said" = "800 messages" ]
}

does_not()
{
    ! "$@"
}

print_says() # TEXT OPTION...
{
    text=$1
    shift
    "$cordon" run -b "$backend" "$@" --print | grep -qxF "$text"
}

# --- races ----------------------------------------------------------------------------------------

number() # WHAT NAME: in what was said
{
    sed -n "s/^$1 .*\\b$2 \\([0-9]*\\).*/\\1/p" "$tmp/said"
}

# Some go where they may and some are refused: else there was no race.
race() # NAME
{
    : >"$tmp/hits"
    inside --net loopback -u "$tmp/gate/a" -- "$program" race "$RACE_CONNECTS" "$tmp" >"$tmp/said" 2>&1
    sed 's/^/    /' "$tmp/said"
    for kind in ip unix; do
        bad=$(number $kind bad)
        if [ "$backend" = none ]; then
            check "$1: $kind" test "$(number $kind good)" -gt 0 -a "${bad:-0}" -gt 0
        else
            check "$1: $kind" test "$(number $kind good)" -gt 0 -a "$(number $kind refused)" -gt 0 -a "${bad:-1}" -eq 0
        fi
    done
    reached=$(grep -cx -e other4 -e race-b "$tmp/hits")
    if [ "$backend" = none ]; then
        check "$1: the others were reached" test "$reached" -gt 0
    else
        check "$1: the others were not reached" test "$reached" -eq 0
    fi
}

listen_race() # NAME
{
    inside --net loopback -- "$program" listen_race "$RACE_CONNECTS" >"$tmp/said" 2>&1
    sed 's/^/    /' "$tmp/said"
    everywhere=$(number tries everywhere)
    if [ "$backend" = none ]; then
        check "$1" test "${everywhere:-0}" -gt 0
    else
        check "$1" test "$(number tries listens)" -gt 0 -a "${everywhere:-1}" -eq 0
    fi
}

# --- all of it ------------------------------------------------------------------------------------

in_place none root dynamic getfd
cases control_cases 2 open
check control_listen listens open "$tmp/listens.none"
errors "$tmp/errors"
check control_errors test "$(wc -l <"$tmp/errors")" -gt 30
check control_handshake test "$("$tmp/dynamic" handshake "$tmp/dynamic" plugin)" = "800 messages"
race control_race
listen_race control_listen_race

all_of_it()
{
    cases "$label: cases" 3 loopback
    check "$label: records" records
    check "$label: errors" same_errors
    check "$label: listen" listens loopback "$tmp/listens.$way"
    check "$label: handshake" talks loopback
}

for backend in landlock bwrap; do
    for user in root nobody; do
        in_place "$backend" "$user" dynamic getfd
        if ! inside -- true 2>"$tmp/why"; then
            if [ "$backend" = bwrap ] && ! command -v bwrap >/dev/null; then
                skip "$backend $user" "package bubblewrap"
            else
                skip "$backend $user" "$(head -n 1 "$tmp/why")"
            fi
            continue
        fi
        for kind in $programs; do
            for way in getfd stand_in; do
                in_place "$backend" "$user" "$kind" $way
                all_of_it
            done
        done
        in_place "$backend" "$user" "${programs##* }" getfd
        cases "$label: cases of loopback:7002,53" 4 loopback:7002,53
        check "$label: a hint that keeps what is open" recorded connect 127.0.0.1:7001 '--net loopback:7002,53,7001"'
        cases "$label: cases of deny" 5 deny
        check "$label: records of deny" records_of_deny
        cases "$label: cases of open" 6 open
        check "$label: listen on one port" listens loopback:7101 "$tmp/listens.ports"
        check "$label: no handshake if it is denied" does_not talks deny
        in_place "$backend" "$user" "${programs##* }" stand_in
        cases "$label: cases of open" 6 open
    done
    in_place "$backend" root "${programs##* }" getfd
    inside -- true 2>/dev/null || continue
    check "$backend print" print_says "network    loopback, held by supervisor" --net loopback
    race "$backend race"
    listen_race "$backend listen_race"
    in_place "$backend" root "${programs##* }" stand_in
    race "$backend race stand_in"
done

summary
