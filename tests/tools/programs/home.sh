# A toolchain below the home directory that PATH names: its bin and what stands beside it.
# path: .pyenv/bin
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

setup()
{
    mkdir -p "$HOME/.pyenv/bin" "$HOME/.pyenv/libexec" "$HOME/.ssh"
    printf '#!/bin/sh\n. "${0%%/*}/../libexec/part"\n' >"$HOME/.pyenv/bin/tool"
    echo 'echo part of a toolchain' >"$HOME/.pyenv/libexec/part"
    chmod 755 "$HOME/.pyenv/bin/tool"
    cp "$OUT/secret" "$HOME/.ssh/id"
}

inside()
{
    tool
}

outside()
{
    cat "$HOME/.ssh/id"
}
