# A key pair in the workspace.
# needs ssh-keygen: package openssh-client
# vague: ./key*
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    ssh-keygen -q -t ed25519 -N '' -C comment -f key
    ssh-keygen -y -f key | cut -d' ' -f1,3
    stat -c '%a %n' key key.pub
}

outside()
{
    ssh-keygen -q -t ed25519 -N '' -f "$OUT/key"
}
