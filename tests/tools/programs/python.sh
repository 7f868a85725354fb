# What Python's library does to files: databases, temporary files, trees, processes and threads.
# needs python3: package python3
# vague: *.pyc
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    cat >main.py <<'END'
import glob, os, pathlib, shutil, sqlite3, subprocess, sys, tempfile, threading

def main():
    with sqlite3.connect('db') as db:
        db.execute('pragma journal_mode=wal')
        db.execute('create table t(a, b)')
        db.executemany('insert into t values(?, ?)', [(i, str(i)) for i in range(1000)])
        print(db.execute('select sum(a) from t').fetchone())
    db.close()

    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, 'x').write_text('x')
    with tempfile.NamedTemporaryFile() as file:
        file.write(b'text'); file.flush()
        print(os.stat(file.name).st_size)
    with tempfile.TemporaryFile() as file:
        file.write(b'text'); print(file.tell())

    os.makedirs('a/b/c')
    pathlib.Path('a/b/file').write_text('text')
    os.symlink('b', 'a/link')
    os.link('a/b/file', 'a/hard')
    shutil.copytree('a', 'copy', symlinks=True)
    shutil.move('copy', 'moved')
    print(sorted(glob.glob('**', recursive=True)))
    print([(p, sorted(d), sorted(f)) for p, d, f in sorted(os.walk('a'))])
    fd = os.open('a', os.O_RDONLY)
    print(sorted(entry.name for entry in os.scandir(fd)), os.stat('hard', dir_fd=fd).st_nlink)
    os.rename('hard', 'harder', src_dir_fd=fd, dst_dir_fd=fd)
    os.close(fd)
    shutil.rmtree('moved')
    os.chmod('a/b/file', 0o640)
    os.utime('a/b/file', (1, 2))
    print(oct(os.stat('a/link/file').st_mode), os.access('a/b/file', os.W_OK), os.access('none', os.F_OK))
    try:
        open('none')
    except FileNotFoundError as error:
        print(error)

    print(subprocess.run(['cat'], input=b'input', stdout=subprocess.PIPE).stdout)
    print(subprocess.run('echo $((6 * 7)); exit 7', shell=True, cwd='a').returncode)
    print(subprocess.run([sys.executable, '-c', 'import os; print(sorted(os.environ))'], env={'A': 'b'},
                         close_fds=True, start_new_session=True).returncode)
    print(os.popen('cat a/b/file').read(), os.system('exit 3') >> 8)
    pid = os.posix_spawn('/bin/sh', ['sh', '-c', 'exit 5'], os.environ)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    threads = [threading.Thread(target=lambda i=i: pathlib.Path(f'thread{i}').write_text('t')) for i in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, '-c', 'print("replaced")'])

if __name__ == '__main__':
    main()
END
    python3 main.py
}

outside()
{
    python3 -c '
import os, shutil
out = os.environ["OUT"]
print(open(out + "/secret").read())
shutil.rmtree(out + "/dir")'
}
