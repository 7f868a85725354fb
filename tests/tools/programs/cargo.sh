# A crate with a build script, built offline by the toolchain below the caller's home.
# needs cargo: no cargo here
# home: real
# vague: */target/*
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    cargo new -q --vcs none --name demo demo
    cd demo
    cat >build.rs <<'END'
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    std::fs::write(format!("{out}/made.rs"), "pub const MADE: &str = \"made\";").unwrap();
}
END
    cat >src/main.rs <<'END'
include!(concat!(env!("OUT_DIR"), "/made.rs"));
fn main() {
    std::fs::write("written", MADE).unwrap();
    println!("{} {}", MADE, std::fs::read_dir(".").unwrap().count());
}
END
    cargo build -q --offline
    target/debug/demo
    cargo test -q --offline | grep '^test result' | cut -d';' -f1
    rm -r target
}

outside()
{
    cargo new -q --vcs none --name thief thief
    cd thief
    echo 'fn main() { print!("{}", std::fs::read_to_string(std::env::var("OUT").unwrap() + "/secret").unwrap()); }' \
        >src/main.rs
    cargo run -q --offline
}
