# Python's pools of processes: their locks are files in /dev/shm, which behind Landlock is the host's
# and has to be granted; bwrap has one of its own.
# needs python3: package python3
# landlock: -w /dev/shm
# vague: *.pyc
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    cat >main.py <<'END'
import multiprocessing, pathlib

def square(number):
    pathlib.Path(f'square{number}').write_text(str(number * number))
    return number * number

if __name__ == '__main__':
    # Not 'forkserver': it listens on a socket with a path, and nobody granted that.
    for method in 'fork', 'spawn':
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(4)))
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=queue.put, args=('through a queue',))
    process.start()
    print(queue.get())
    process.join()
END
    python3 main.py
}

outside()
{
    cat >main.py <<'END'
import multiprocessing, os

if __name__ == '__main__':
    with multiprocessing.Pool(1) as pool:
        print(pool.map(os.listdir, [os.environ['OUT']]))
        pool.map(os.unlink, [os.environ['OUT'] + '/dir/file'])
END
    python3 main.py
}
