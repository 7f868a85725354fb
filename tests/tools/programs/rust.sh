# A Rust program with its own static libc calls, where rustc can link one.
# needs rustc: no rustc here
# home: real
# unshimmed: yes
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

setup()
{
    cat >program.rs <<'END'
use std::{env, fs, io::Write, process::Command, thread};

fn main() {
    let path = env::args().last().unwrap();
    if env::args().nth(1).unwrap() == "append" {
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more\n").unwrap();
        return;
    }
    print!("{}", fs::read_to_string(&path).unwrap());
    fs::create_dir_all("made/deep").unwrap();
    let threads: Vec<_> = (0..4).map(|i| thread::spawn(move || fs::write(format!("made/{i}"), "x").unwrap())).collect();
    for thread in threads { thread.join().unwrap(); }
    let mut names: Vec<_> = fs::read_dir("made").unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    println!("{names:?} {}", fs::canonicalize("made/../made/0").unwrap().ends_with("made/0"));
    print!("{}", String::from_utf8(Command::new("cat").arg(&path).output().unwrap().stdout).unwrap());
}
END
    rustc -C target-feature=+crt-static -o program program.rs
    echo input >input
}

inside()
{
    ./program show input
}

outside()
{
    ./program show "$OUT/secret"
}

change()
{
    ./program append "$OUT/secret"
}
