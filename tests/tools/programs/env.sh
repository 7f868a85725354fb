# A program that is given an empty environment, or one of its own, is confined like any other.
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    env -i /bin/sh -c 'echo inside >file; /bin/cat file'
    env -i /usr/bin/env
    env -i A=b /usr/bin/env -i C=d /usr/bin/env
    env -u HOME A=b sh -c 'echo ${HOME-none} $A'
    env | cut -d= -f1 | grep -e PRELOAD -e CORDON_IMAGE -e CORDON_HANDSHAKE || echo clean
    sh -c 'unset LD_PRELOAD; LD_PRELOAD= cat file'
}

outside()
{
    env -i OUT="$OUT" /usr/bin/env -i OUT="$OUT" /bin/sh -c '/bin/cat "$OUT/secret"'
}
