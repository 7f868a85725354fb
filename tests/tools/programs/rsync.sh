# Copies kept in step.
# needs rsync: package rsync
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    mkdir -p from/dir to
    seq 100 >from/dir/file
    echo x >from/x
    ln -s dir/file from/link
    touch -d @1000000000 from/x from/dir/file
    rsync -aO --out-format='%i %n' from/ to/
    rm from/x && echo more >>from/dir/file
    rsync -aO --delete --out-format='%i %n' from/ to/
    rsync -aHO --link-dest=../to from/ linked/
    rsync -rc --backup --backup-dir=../old from/ to/
    find to linked -type f | sort
}

outside()
{
    rsync -a "$OUT/" stolen/
    rsync -aO --delete --exclude=* ./ "$OUT/dir/"
}
