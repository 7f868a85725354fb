# What the README shows is what happens: its console blocks are run in a copy of the tree, one after
# the other in one shell, and its C program is the example that the other tests compile.
#
# In a block a line `$ COMMAND` is followed by what the command prints; `...` stands for any text. The
# copy goes by the name of /home/you/cordon.
# shellcheck shell=sh source=tests/tools/lib.sh
. "$TOP/tests/tools/lib.sh"

tmp=$(readlink -f "$tmp")
copy=$tmp/cordon

# A reader's settings are none, and the header for the tests need not be fetched again.
unset CC CFLAGS CPPFLAGS LDFLAGS LDLIBS SANITIZE DEVELOPER CI
[ ! -e "$TOP/build/include/greatest/greatest.h" ] ||
    export GREATEST_H="$TOP/build/include/greatest/greatest.h"

# Of the tests only two stay: enough to see that `make test` works, without running this one in itself.
copy_tree()
{
    mkdir "$copy" &&
        tar -C "$TOP" --exclude=./build --exclude=./.git -cf - . | tar -C "$copy" -xf - &&
        find "$copy/tests" \( -name 'test_*.c' -o -name race.c -o -name differential.c -o \
            -path '*/tools/*.sh' \) ! -name test_tracker.c ! -name install.sh ! -name lib.sh -delete &&
        rm -rf "$copy/tests/matrix" "$copy/tests/escape"
}

block() # LANGUAGE: all blocks of that language
{
    awk -v fence="\`\`\`$1" '/^```$/ { inside = 0 } inside; $0 == fence { inside = 1 }' "$TOP/README.md"
}

# Text in which ... matches anything, as a pattern for case.
pattern()
{
    printf '%s' "$1" | sed -e 's/[][*?\\]/\\&/g' -e 's/\.\.\./*/g'
}

# Runs $command and compares; keeps its status for the next one, and changes directory with it.
run_command()
{
    (exit "$status")
    eval "$command" >"$tmp/output" 2>&1 </dev/null
    status=$?
    got=$(sed "s|$copy|/home/you/cordon|g" "$tmp/output")
    # shellcheck disable=SC2254 # a pattern it is
    case $got in
    $(pattern "$expected")) pass "$command" ;;
    *)
        fail "$command" "it prints something else (exit status $status):"
        printf '%s\n' "$got" | sed 's/^/    /'
        ;;
    esac
}

example()
{
    block c >"$tmp/block.c"
    sed -n '/^#include/,$p' "$TOP/tests/tools/example.c" | diff - "$tmp/block.c"
}

check c_block_is_the_example example
check copy copy_tree
block console >"$tmp/console"
echo '$ end' >>"$tmp/console"
check commands_found grep -q '^\$ make test$' "$tmp/console"

cd "$copy" || exit
command='' status=0
newline='
'
while IFS= read -r line <&3; do
    case $line in
    '$ '*)
        [ -z "$command" ] || run_command
        command=${line#??} expected=
        ;;
    *) expected=$expected${expected:+$newline}$line ;;
    esac
done 3<"$tmp/console"

# Links to files of the tree lead somewhere.
for file in $(grep -o '](\([^):]*\))' "$TOP/README.md" | tr -d ']()'); do
    check "link $file" test -e "$TOP/$file"
done
summary
