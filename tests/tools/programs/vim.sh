# An editor, in its silent mode: swap and undo files, a filter, writing and renaming.
# needs vim: package vim
# vague: ./file.undo
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    seq 10 >file
    vim -Nu NONE -i NONE -es -c '%s/1/one/' -c '2,3!sort -r' -c 'wq' file
    cat file
    vim -Nu NONE -i NONE -es -c 'set backup' -c '%d' -c 'call setline(1, ["a", "b"])' -c 'w' -c 'w! copy' -c 'qa' file
    cat file copy
    vim -Nu NONE -i NONE -es -c 'call mkdir("new/deep", "p")' -c 'call writefile(["x"], "new/deep/x")' -c qa
    vim -Nu NONE -i NONE -es -c 'call rename("copy", "moved") | call delete("file~")' -c qa
    vim -Nu NONE -i NONE -es -c 'redir! > said' -c 'echo system("cat moved")' -c 'redir END' -c qa
    cat said
}

outside()
{
    vim -Nu NONE -i NONE -es -c 'r '"$OUT/secret" -c 'w stolen' -c 'w! '"$OUT/dir/file" -c 'qa'
}
