# A repository from `git init` on: commits with the user's identity, hooks, branches, a second work
# tree, a rebase, a clone, and collecting garbage.
# needs git: package git
# vague: */index
# vague: */.git/logs/*
# vague: */info/commit-graph*
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

commit() # NAME
{
    echo "$1" >"$1"
    git add "$1"
    git commit -q -m "$1"
}

inside()
{
    git init -q -b main repo
    cd repo
    printf '#!/bin/sh\necho hook: "$@"\n' >.git/hooks/pre-commit
    chmod 755 .git/hooks/pre-commit
    commit first
    git log --format='%H %an <%ae> %s'
    echo changed >>first
    echo new >untracked
    git status --short
    git diff
    git stash -q && git stash list && git stash pop -q
    git commit -q -a -m second
    git branch topic HEAD~1
    git worktree add -q ../tree topic
    (cd ../tree && commit third && git rebase -q main && git log --format=%s)
    git worktree list --porcelain | grep -v '^worktree'
    git merge -q topic
    git tag -a -m tagged v1
    git rm -q --cached first && git reset -q --hard
    git mv third moved && git commit -q -m moved
    (cd .. && git clone -q repo copy && git clone -q --bare --no-hardlinks repo bare.git)
    (cd ../copy && commit fourth && git push -q origin HEAD:refs/heads/pushed)
    git gc -q --prune=now
    git fsck
    git repack -adq
    git archive HEAD | tar tf -
    git worktree remove ../tree
    git config --get user.email
    git config color.ui never
    git submodule --quiet add ./../bare.git module 2>&1 || echo no submodule
    git grep -n third
    git log --graph --oneline --all
    git clean -qfdx
    git status
}

outside()
{
    git clone -q "$OUT/repo" stolen
}
