# A pager, in a pipe and on a file.
# needs less: package less
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    seq 50 >file
    less file | tail -n 1
    less <file | head -n 1
    tail -n 3 file | less | wc -l
    less none || echo $?
}

outside()
{
    # It exits with 0 whatever it could read.
    less "$OUT/secret" | grep magic
}
