# Node's file system in its three manners, child processes, worker threads and a local server's
# absence of need: nothing here talks to a network.
# needs node: no node here
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    cat >main.js <<'END'
const fs = require('fs'), path = require('path'), os = require('os');
const { execFileSync, spawnSync, fork } = require('child_process');
const { Worker } = require('worker_threads');
async function main() {
  fs.mkdirSync('a/b/c', { recursive: true });
  fs.writeFileSync('a/b/file', 'text\n');
  fs.symlinkSync('b/file', 'a/link');
  await fs.promises.appendFile('a/link', 'more\n');
  fs.renameSync('a/b', 'a/d');
  fs.cpSync('a/d', 'copy', { recursive: true });
  fs.chmodSync('copy/file', 0o600);
  fs.utimesSync('copy/file', 1, 2);
  const stat = fs.statSync('copy/file');
  console.log(stat.size, stat.mode.toString(8), stat.mtimeMs, fs.lstatSync('a/link').isSymbolicLink());
  console.log(fs.existsSync('none'), fs.readdirSync('a'), fs.readlinkSync('a/link'));
  try { fs.openSync('none'); } catch (error) { console.log(error.code, error.syscall); }
  console.log(path.relative(process.cwd(), fs.realpathSync('copy/../copy/file')));
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'x-'));
  fs.writeFileSync(path.join(temporary, 'y'), 'y');
  fs.rmSync(temporary, { recursive: true });
  console.log(execFileSync('cat', ['copy/file']).toString());
  console.log(spawnSync('sh', ['-c', 'echo $0; exit 3'], { env: {} }).status);
  await new Promise(done => new Worker(
    "require('fs').writeFileSync('worker', 'worker\\n')", { eval: true }).on('exit', done));
  fs.createReadStream('worker').pipe(fs.createWriteStream('piped')).on('finish', () => {
    console.log(fs.readFileSync('piped', 'utf8'));
    fork('./child.js').on('message', text => console.log(text));
  });
}
main();
END
    echo "process.send('child: ' + require('fs').readFileSync('worker')); process.disconnect()" >child.js
    node main.js
}

outside()
{
    node -e '
        const fs = require("fs"), out = process.env.OUT;
        fs.writeFileSync(out + "/new", "new");
        process.stdout.write(fs.readFileSync(out + "/secret"));'
}
