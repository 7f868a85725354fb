# What a shell has beyond starting programs: here-documents, process substitution, coprocesses,
# redirections of all kinds, traps, subshells and its own idea of where it is.
# needs bash: package bash
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    bash -eu -c '
        cat <<END >here
a document with $((1 + 1)) words
END
        cat here; cat <<<"a string"
        diff <(seq 3) <(seq 4) || echo differs
        seq 100 | tee >(wc -l >count) >/dev/null; wait; sleep 0.1; cat count
        coproc cat; echo to the coprocess >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; echo "$line"
        exec 5<>both; echo both >&5; exec 5>&-; cat both
        exec {fd}>many; echo many >&$fd; exec {fd}>&-; cat many
        mkdir -p deep/er; cd deep/er; echo "${PWD##*/}"; cd ../..; pushd deep >/dev/null; popd >/dev/null
        ln -s deep link; cd link; pwd | sed "s,.*/,,"; pwd -P | sed "s,.*/,,"; cd ..
        shopt -s globstar nullglob; echo **/; echo none*
        [[ -d deep && -L link && ! -e none && -w here && -r here && ! -x here ]] && echo tested
        set -o noclobber; (echo x >here) 2>&1 | sed "s/.*: //"; set +o noclobber
        printf "#!/bin/sh\necho script \$0 \$1\n" >script; chmod 755 script; ./script arg; PATH=$PWD:$PATH script arg
        printf "echo no shebang\n" >plain; chmod 755 plain; ./plain
        none_such_command 2>/dev/null || echo $?
        ./here 2>/dev/null || echo $?
        (exit 9) || echo $?
        bash -c "kill -TERM \$\$" || echo $?
        trap "echo trapped" USR1; kill -USR1 $$
        (sleep 10 & kill $!; wait $!) || echo $?
        time -p true 2>/dev/null
        ulimit -n >/dev/null; umask 077; touch private; stat -c %a private; type -P sh >/dev/null
        exec -a other bash -c "echo \$0"
    '
}

outside()
{
    bash -c 'read -r line <"$OUT/secret" && echo "$line" && echo x >>"$OUT/dir/file"'
}
