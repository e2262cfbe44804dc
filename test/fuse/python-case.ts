import { run } from '../support/tools.ts'

/** What every script begins with: in the directory, nothing taken away by a umask, and words for what is expected. */
const PRELUDE = `
import ctypes, errno, fcntl, mmap, os, resource, signal, socket, stat, struct, sys, time
os.chdir(sys.argv[1]); os.umask(0)
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, NOBODY = -100, 65534

def fails(code, call, *args, **named):
    try: call(*args, **named)
    except OSError as e: assert e.errno == code, (e, errno.errorcode[code])
    else: assert False, 'nothing was refused: ' + errno.errorcode[code]

def made(path, content=b'', mode=0o644, owner=None):
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    os.write(fd, content); os.close(fd)
    if owner: os.chown(path, *owner)
    return path

def directory(path, mode=0o755, owner=None):
    os.mkdir(path, mode)
    if owner: os.chown(path, *owner)
    return path

def by(uid, groups, call):
    'Runs it as another user, whose first group is the main one.'
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups(groups[1:]); os.setgid(groups[0]); os.setuid(uid); call()
        except BaseException as e:
            import traceback; traceback.print_exc(); os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

def bits(path): return os.lstat(path).st_mode & 0o7777
def ctime(path): return os.lstat(path).st_ctime_ns
def mtime(path): return os.lstat(path).st_mtime_ns

def later():
    'The clock of the slowest file system has moved on.'
    moment = time.time_ns() + 12_000_000
    while time.time_ns() < moment: pass

def changes(what, path, call):
    before = what(path); later(); call(); assert what(path) > before, (what.__name__, path)

def keeps(what, path, call):
    before = what(path); later(); call(); assert what(path) == before, (what.__name__, path)
`

/** A case in Python, which has the calls of the system that Node lacks. */
export function python(script: string): (directory: string) => void {
  return (directory) => {
    run('python3', '-ISc', PRELUDE + script, directory)
  }
}
