# The workspace itself is a repository that was there before: its hooks and its configuration are
# protected, everyday work is not hindered.
# needs git: package git
# vague: */index
# vague: */.git/logs/*
# vague: */.git/FETCH_HEAD
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

setup()
{
    git init -q -b main .
    mkdir src docs
    for name in a b c; do
        echo $name >src/$name
    done
    git add . && git commit -q -m start
}

inside()
{
    git status
    echo more >>src/a
    mv src/b docs/b
    ln -s ../src/a docs/link
    git add -A
    git status --short
    git commit -q -m work
    git checkout -q -b feature
    echo feature >feature && git add feature && git commit -q -m feature
    git checkout -q main
    echo main >main && git add main && git commit -q -m main
    git merge -q -m merged feature
    git rebase -q --root
    git cherry-pick feature 2>&1 | head -n 1
    git cherry-pick --abort 2>/dev/null || git reset -q --hard
    git worktree add -q wt -b other
    git -C wt status --short
    git worktree remove wt
    git fetch -q . main:fetched
    git log --format='%s %an'
    git gc -q
    git fsck
}

outside()
{
    git -C "$OUT/repo" commit -q --allow-empty -m mine
}
