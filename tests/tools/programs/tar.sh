# Archives: links, modes and times, compressed and not, extracted over what is there.
# needs tar: package tar
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    mkdir -p tree/dir/empty
    echo text >tree/file
    ln tree/file tree/dir/hard
    ln -s ../file tree/dir/soft
    ln -s nowhere tree/dangling
    mkfifo tree/fifo
    chmod 640 tree/file
    chmod 700 tree/dir
    touch -d @1000000000 tree/file tree/dir tree
    tar -cf archive.tar tree
    tar -tvf archive.tar
    mkdir copy && tar -C copy -xpf archive.tar
    find copy -printf '%y %m %n %P %l\n' | sort
    stat -c '%n %Y' copy/tree copy/tree/file copy/tree/dir
    tar -czf archive.tgz --exclude=dir tree && tar -tzf archive.tgz
    gzip -l archive.tgz | wc -l
    tar -C copy -xf archive.tar
    tar -cf - tree | tar -xf - -C copy
    tar -C copy --recursive-unlink -xf archive.tar
    tar -rf archive.tar copy/tree/file && tar -df archive.tar tree
    rm archive.tgz archive.tar
}

outside()
{
    tar -cf - -C "$OUT" secret dir
}
