# A static shell and static tools: no call of theirs comes through libc.so.
# needs busybox: package busybox-static
# unshimmed: yes
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

# The applets in it, not the programs of that name.
static()
{
    busybox env PATH=/nonexistent busybox sh -euc "$@"
}

inside()
{
    static '
        mkdir -p tree/dir/deep
        echo one >tree/file
        cp tree/file tree/dir/copy
        ln tree/file tree/hard
        ln -s ../file tree/dir/soft
        chmod 640 tree/dir/copy
        touch -d "2001-02-03 04:05:06" tree/dir/copy
        sed -i s/one/two/ tree/file
        find tree | sort
        tar -cf archive.tar tree
        tar -tf archive.tar | sort
        mkdir out
        tar -xf archive.tar -C out
        cat out/tree/file out/tree/hard out/tree/dir/soft
        mv out/tree/dir moved
        stat -c "%a %F %Y" moved/copy
        ls -A moved | sort
        readlink moved/soft
        rm -r out archive.tar
        grep -r one . | sort
        cat none || echo $?
    ' 2>&1
}

outside()
{
    static 'cat "$OUT/secret"'
}

change()
{
    static 'echo more >>"$OUT/secret"'
}
