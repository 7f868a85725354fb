# The tools for files: cp, mv, install, ln, dd, split, sort, sed -i, patch and the rest.
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    mkdir -p tree/dir
    seq 1000 >tree/numbers
    echo text >tree/dir/file
    ln tree/dir/file tree/hard
    ln -s dir/file tree/soft
    touch -h -d @1000000000 tree/numbers tree/dir/file tree/soft
    chmod 600 tree/dir/file
    cp -a tree copy
    stat -c '%n %Y %a %h' copy/numbers copy/hard copy/soft
    cp -rL tree followed
    cp --reflink=auto -pv tree/numbers numbers
    install -D -m 751 tree/numbers new/place/numbers && stat -c %a new/place/numbers
    mv copy/dir moved && mv -T copy copied && mv moved copied/
    dd if=numbers of=part bs=100 count=2 status=none && wc -c <part
    split -n 3 numbers piece. && cat piece.* | cmp - numbers
    sort -rn -S 16k -T . numbers | head -n 2
    sed -i.old -e 's/^1$/one/' numbers && head -n 1 numbers numbers.old
    cp numbers.old other && diff -u other numbers >change.patch || echo changed
    truncate -s 10 part && stat -c %s part
    ln -sfn dir tree/soft && readlink tree/soft && readlink -f tree/soft/../dir/file | sed 's,.*/ws/,,'
    touch -r numbers.old numbers && test ! numbers -nt numbers.old && echo touched
    mktemp -d -p . made.XXXX | wc -c && rmdir made.*
    mktemp | wc -l
    chmod -R g-rwx tree && chown -R "$(id -u)" tree && chgrp "$(id -g)" tree/numbers
    rm -rf followed new && rmdir none 2>/dev/null || echo $?
    cat none 2>&1 || ls none 2>&1 || echo $?
    ls -A1 tree copied
    df . >/dev/null && du -s tree >/dev/null && sync part && realpath --relative-to=. tree/dir
    comm -12 numbers numbers.old | wc -l
    rm change.patch
}

outside()
{
    cp -a "$OUT/secret" stolen
    mv "$OUT/dir" moved
}
