import { python } from './python-case.ts'

/** Ways to change content and share it beside reading and writing. */
export const contentCases: Readonly<Record<string, (directory: string) => void>> = {
  'room is set aside, with and without a new size, and holes are punched': python(`
KEEP, PUNCH, ZERO = 1, 2, 16
fd = os.open('f', os.O_RDWR | os.O_CREAT); os.write(fd, b'x' * 100_000)
def fallocate(mode, at, length):
    if libc.fallocate(fd, mode, ctypes.c_long(at), ctypes.c_long(length)): raise OSError(ctypes.get_errno(), 'fallocate')
fallocate(KEEP, 0, 500_000); assert os.fstat(fd).st_size == 100_000
fallocate(0, 90_000, 60_000); assert os.fstat(fd).st_size == 150_000 and os.pread(fd, 50_000, 100_000) == bytes(50_000)
fallocate(PUNCH | KEEP, 10_000, 70_000); assert os.pread(fd, 100_000, 0) == b'x' * 10_000 + bytes(70_000) + b'x' * 20_000
fallocate(PUNCH | KEEP, 140_000, 900_000); assert os.fstat(fd).st_size == 150_000
fallocate(ZERO | KEEP, 85_000, 900_000); assert os.fstat(fd).st_size == 150_000 and os.pread(fd, 99_999, 80_000) == b'x' * 5_000 + bytes(65_000)
fallocate(ZERO, 5_000, 200_000); assert os.fstat(fd).st_size == 205_000 and os.pread(fd, 205_000, 0) == b'x' * 5_000 + bytes(200_000)
fails(errno.EINVAL, fallocate, 0, 0, 0); fails(errno.EINVAL, fallocate, 0, -1, 5); fails(errno.EOPNOTSUPP, fallocate, PUNCH, 0, 5)
`),
  'data and holes are distinguished, and there are none past the end': python(`
fd = os.open('f', os.O_RDWR | os.O_CREAT); os.pwrite(fd, b'x' * 65536, 1048576); os.ftruncate(fd, 4 * 1048576); os.fsync(fd)
data = os.lseek(fd, 0, os.SEEK_DATA); assert 1048576 - 65536 <= data <= 1048576, data
hole = os.lseek(fd, data, os.SEEK_HOLE); assert 1048576 + 65536 <= hole <= 1048576 + 131072, hole
assert os.lseek(fd, 0, os.SEEK_HOLE) == 0 and os.lseek(fd, 4 * 1048576 - 1, os.SEEK_HOLE) >= 4 * 1048576 - 1
fails(errno.ENXIO, os.lseek, fd, hole, os.SEEK_DATA); fails(errno.ENXIO, os.lseek, fd, 4 * 1048576, os.SEEK_HOLE)
`),
  'parts of files are copied by the system': python(`
made('from', bytes(range(256)) * 1000); out = os.open('to', os.O_RDWR | os.O_CREAT); src = os.open('from', os.O_RDONLY)
assert os.copy_file_range(src, out, 200_000, 1000, 500) == 200_000
assert os.pread(out, 200_000, 500) == (bytes(range(256)) * 1000)[1000:201_000] and os.pread(out, 500, 0) == bytes(500)
assert os.copy_file_range(src, out, 10, 256_000, 0) == 0 and os.copy_file_range(src, out, 100, 255_990, 0) == 10
fails(errno.EINVAL, os.copy_file_range, out, out, 1000, 0, 10); fails(errno.EBADF, os.copy_file_range, src, src, 10, 0, 1000)
assert os.sendfile(out, src, 0, 1000) == 1000
`),
  'a shared mapping is visible to readers, a private one is not, and nothing lies past the end': python(`
made('f', b'x' * 10_000); fd = os.open('f', os.O_RDWR)
shared, own = mmap.mmap(fd, 10_000), mmap.mmap(fd, 10_000, flags=mmap.MAP_PRIVATE)
own[0:3] = b'own'; shared[5000:5006] = b'shared'
assert os.pread(fd, 6, 5000) == b'shared' and os.pread(fd, 3, 0) == b'xxx'
os.pwrite(fd, b'written', 7000); assert shared[7000:7007] == b'written'
pid = os.fork()
if pid == 0: shared[0:5] = b'child'; os._exit(0)
os.waitpid(pid, 0); assert os.pread(fd, 5, 0) == b'child'
os.unlink('f'); shared[9_000:9_004] = b'gone'; shared.flush(); assert os.pread(fd, 4, 9_000) == b'gone'
os.ftruncate(fd, 4096); pid = os.fork()
if pid == 0: signal.signal(signal.SIGBUS, signal.SIG_DFL); shared[8192]; os._exit(0)
assert os.waitpid(pid, 0)[1] == signal.SIGBUS
`),
  'a file without a name can be read, mapped, cut and named once': python(`
fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o640); os.write(fd, b'x' * 70_000); os.ftruncate(fd, 5); m = mmap.mmap(fd, 5); m[0:2] = b'ab'
assert os.fstat(fd).st_nlink == 0 and os.fstat(fd).st_mode & 0o7777 == 0o640 and os.listdir('.') == []
def name(fd, to):
    if libc.linkat(AT_FDCWD, b'/proc/self/fd/%d' % fd, AT_FDCWD, to, 0x400): raise OSError(ctypes.get_errno(), 'linkat')
name(fd, b'named'); name(fd, b'again'); assert os.fstat(fd).st_nlink == 2 and open('named').read() == 'abxxx'
fails(errno.EEXIST, name, fd, b'named')
never = os.open('.', os.O_TMPFILE | os.O_RDWR | os.O_EXCL); fails(errno.ENOENT, name, never, b'never')
made('f'); gone = os.open('f', os.O_RDWR); os.unlink('f'); fails(errno.ENOENT, name, gone, b'back')
`),
  'locks of both kinds exclude other processes, by range, and go with their holder': python(`
made('f', bytes(100))
def other(call):
    'What it raises in another process.'
    r, w = os.pipe(); pid = os.fork()
    if pid == 0:
        try: call(os.open('f', os.O_RDWR)); os.write(w, b'0')
        except OSError as e: os.write(w, str(e.errno).encode())
        os._exit(0)
    os.waitpid(pid, 0); return int(os.read(r, 9))
EX, SH, NB, UN = fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_NB, fcntl.LOCK_UN
fd = os.open('f', os.O_RDWR)
for lock in (fcntl.flock, fcntl.lockf):
    lock(fd, EX); assert other(lambda f: lock(f, EX | NB)) == errno.EAGAIN and other(lambda f: lock(f, SH | NB)) == errno.EAGAIN
    lock(fd, SH); assert other(lambda f: lock(f, EX | NB)) == errno.EAGAIN and other(lambda f: lock(f, SH | NB)) == 0
    lock(fd, UN); assert other(lambda f: lock(f, EX | NB)) == 0
fcntl.lockf(fd, EX, 10, 20)
assert other(lambda f: fcntl.lockf(f, EX | NB, 10, 30)) == 0 and other(lambda f: fcntl.lockf(f, EX | NB, 10, 25)) == errno.EAGAIN
os.close(os.open('f', os.O_RDONLY)); assert other(lambda f: fcntl.lockf(f, EX | NB, 10, 20)) == 0
pid = os.fork()
if pid == 0: f = os.open('f', os.O_RDWR); fcntl.flock(f, EX); os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0); assert other(lambda f: fcntl.flock(f, EX | NB)) == 0
`),
  'a lock is waited for': python(`
made('f'); r, w = os.pipe(); fd = os.open('f', os.O_RDWR); fcntl.lockf(fd, fcntl.LOCK_EX)
pid = os.fork()
if pid == 0:
    f = os.open('f', os.O_RDWR); os.write(w, b'waits'); fcntl.lockf(f, fcntl.LOCK_EX); os._exit(os.pread(f, 4, 0) != b'done')
assert os.read(r, 9) == b'waits'
os.write(fd, b'done'); fcntl.lockf(fd, fcntl.LOCK_UN); assert os.waitpid(pid, 0)[1] == 0
`),
  'names are exchanged whatever they are, and kept where that is asked': python(`
NOREPLACE, EXCHANGE = 1, 2
def rename2(a, b, flags):
    if libc.renameat2(AT_FDCWD, a.encode(), AT_FDCWD, b.encode(), flags): raise OSError(ctypes.get_errno(), 'renameat2')
directory('d'); made('d/in'); made('f', b'file'); directory('e'); os.symlink('none', 'l')
rename2('d', 'f', EXCHANGE); assert os.listdir('f') == ['in'] and open('d').read() == 'file'
rename2('f', 'e', EXCHANGE); assert os.listdir('e') == ['in'] and os.listdir('f') == []
rename2('l', 'd', EXCHANGE); assert os.readlink('d') == 'none' and open('l').read() == 'file'
fails(errno.EINVAL, rename2, 'e', 'e/in', EXCHANGE); fails(errno.ENOENT, rename2, 'e', 'none', EXCHANGE)
fails(errno.EEXIST, rename2, 'l', 'd', NOREPLACE); fails(errno.EEXIST, rename2, 'l', 'l', NOREPLACE); rename2('l', 'new', NOREPLACE)
fails(errno.EINVAL, rename2, 'new', 'd', NOREPLACE | EXCHANGE); fails(errno.EINVAL, rename2, 'new', 'd', 64)
`),
  'extended attributes are asked for with room enough, and belong to what may have them': python(`
made('f'); directory('d'); os.symlink('f', 'l')
def getxattr(path, name, room):
    buffer = ctypes.create_string_buffer(max(room, 1)); n = libc.getxattr(path, name, buffer, room)
    if n < 0: raise OSError(ctypes.get_errno(), 'getxattr')
    return n, buffer.raw[:n] if room else None
for path in ('f', 'd'): os.setxattr(path, 'user.name', b'value')
assert getxattr(b'f', b'user.name', 0) == (5, None) and getxattr(b'f', b'user.name', 5) == (5, b'value'); fails(errno.ERANGE, getxattr, b'f', b'user.name', 4)
n = libc.listxattr(b'f', None, 0); assert n == len(b'user.name') + 1
assert libc.listxattr(b'f', ctypes.create_string_buffer(3), 3) == -1 and ctypes.get_errno() == errno.ERANGE
fails(errno.ENODATA, os.getxattr, 'f', 'user.none'); fails(errno.ENODATA, os.removexattr, 'f', 'user.none'); os.setxattr('f', 'user.empty', b''); assert os.getxattr('f', 'user.empty') == b''
fails(errno.EPERM, os.setxattr, 'l', 'user.a', b'x', 0, follow_symlinks=False); fails(errno.EOPNOTSUPP, os.setxattr, 'f', 'unknown.a', b'x')
fails(errno.ERANGE, os.setxattr, 'f', 'user.' + 'x' * 251, b''); fails(errno.E2BIG, os.setxattr, 'f', 'user.a', bytes(65537))
os.setxattr('f', 'trusted.a', b'x'); os.chmod('.', 0o755)
by(1001, [1001], lambda: fails(errno.EACCES, os.setxattr, 'f', 'user.a', b'x')); by(1001, [1001], lambda: fails(errno.ENODATA, os.getxattr, 'f', 'trusted.a'))
`),
}
