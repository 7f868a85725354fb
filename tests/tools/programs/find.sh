# Walking trees by descriptor, and running commands on what is found.
# needs find: package findutils
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    mkdir -p a/b/c/d e/f
    touch a/1 a/b/2 a/b/c/3 e/f/4
    ln -s ../e a/link
    ln -s . a/self
    find . | sort
    find -L a -maxdepth 3 2>/dev/null | sort
    find . -type f -newermt 2000-01-01 -size 0 -exec sh -c 'echo "$0" "$@"' {} + | wc -w
    find . -name '[12]' -execdir pwd \; | sed 's,.*/,,' | sort
    find . -type f -print0 | xargs -0 -n 1 -P 2 basename | sort
    find e -depth -delete && ls
    find a -xtype l -o -empty | sort
    grep -rl . . | wc -l
    find none 2>&1 || echo $?
}

outside()
{
    find "$OUT" -type f -exec cat {} +
}
