import { python } from './python-case.ts'

/** How calls that cannot be done are refused: as on a plain directory, with the same number. */
export const refusalCases: Readonly<Record<string, (directory: string) => void>> = {
  'what is not there is ENOENT for every call': python(`
for call in (os.chmod, lambda p, _: os.chown(p, 0, 0), os.truncate, os.open, os.rename, os.link, lambda p, _: os.unlink(p),
             lambda p, _: os.rmdir(p), lambda p, _: os.utime(p), lambda p, _: os.readlink(p), lambda p, _: os.listdir(p)):
    fails(errno.ENOENT, call, 'none', 0 if call not in (os.rename, os.link) else 'other')
for call in (os.mkdir, os.mkfifo, os.mknod): fails(errno.ENOENT, call, 'none/below')
fails(errno.ENOENT, os.symlink, 'x', 'none/below')
fails(errno.ENOENT, os.open, 'none/below', os.O_CREAT)
`),
  'a file on the way is ENOTDIR for every call': python(`
made('f'); made('g')
for call in (os.stat, os.unlink, os.rmdir, os.mkdir, os.mkfifo, os.utime, os.readlink, os.listdir):
    fails(errno.ENOTDIR, call, 'f/below')
fails(errno.ENOTDIR, os.chmod, 'f/below', 0); fails(errno.ENOTDIR, os.chown, 'f/below', 0, 0)
fails(errno.ENOTDIR, os.truncate, 'f/below', 0); fails(errno.ENOTDIR, os.open, 'f/below', os.O_CREAT)
fails(errno.ENOTDIR, os.rename, 'f/below', 'x'); fails(errno.ENOTDIR, os.rename, 'g', 'f/below')
fails(errno.ENOTDIR, os.link, 'g', 'f/below'); fails(errno.ENOTDIR, os.symlink, 'x', 'f/below')
fails(errno.ENOTDIR, os.open, 'f', os.O_DIRECTORY); fails(errno.ENOTDIR, os.open, 'f/', os.O_RDONLY)
`),
  'links that lead round in a circle are ELOOP': python(`
os.symlink('b', 'a'); os.symlink('a', 'b'); os.symlink('self', 'self')
for path in ('a', 'self', 'a/below'):
    for call in (os.stat, os.listdir, os.utime): fails(errno.ELOOP, call, path)
    fails(errno.ELOOP, os.chmod, path, 0); fails(errno.ELOOP, os.truncate, path, 0); fails(errno.ELOOP, os.open, path, os.O_RDONLY)
fails(errno.ELOOP, os.unlink, 'a/below'); os.unlink('a')
made('f'); os.symlink('f', 'l')
fails(errno.ELOOP, os.open, 'l', os.O_RDONLY | os.O_NOFOLLOW)
for n in range(41): os.symlink('l' if n == 0 else 'c%d' % (n - 1), 'c%d' % n)
os.stat('c38'); fails(errno.ELOOP, os.stat, 'c40')
`),
  'names of 256 bytes and paths of 4096 are ENAMETOOLONG': python(`
longest, longer = 'x' * 255, 'x' * 256
made(longest); os.rename(longest, 'y' * 255); os.unlink('y' * 255)
made('f')
for call in (os.stat, os.mkdir, os.mkfifo, os.unlink, os.rmdir, os.readlink): fails(errno.ENAMETOOLONG, call, longer)
fails(errno.ENAMETOOLONG, os.open, longer, os.O_CREAT); fails(errno.ENAMETOOLONG, os.rename, 'f', longer)
fails(errno.ENAMETOOLONG, os.link, 'f', longer); fails(errno.ENAMETOOLONG, os.symlink, 'x', longer)
fails(errno.ENAMETOOLONG, os.stat, './' * 2048)
os.symlink('t' * 4095, 'l'); assert os.readlink('l') == 't' * 4095 and os.lstat('l').st_size == 4095
fails(errno.ENAMETOOLONG, os.symlink, 't' * 4096, 'm'); fails(errno.ENOENT, os.symlink, '', 'm')
`),
  'whatever is there is in the way of what is made': python(`
made('file'); directory('directory'); os.symlink('none', 'link'); os.mkfifo('pipe')
for name in ('file', 'directory', 'link', 'pipe'):
    for call in (os.mkdir, os.mkfifo, os.mknod): fails(errno.EEXIST, call, name)
    fails(errno.EEXIST, os.symlink, 'x', name); fails(errno.EEXIST, os.link, 'file', name)
    fails(errno.EEXIST, os.open, name, os.O_CREAT | os.O_EXCL)
`),
  'directories are not opened, cut, linked or unlinked as files': python(`
directory('d'); made('d/f')
for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC): fails(errno.EISDIR, os.open, 'd', flags)
fails(errno.EISDIR, os.truncate, 'd', 0); fails(errno.EPERM, os.link, 'd', 'e'); fails(errno.EISDIR, os.unlink, 'd')
fd = os.open('d', os.O_RDONLY); fails(errno.EISDIR, os.read, fd, 1)
fails(errno.EINVAL, os.rmdir, 'd/.'); fails(errno.ENOTEMPTY, os.rmdir, 'd/..'); fails(errno.ENOTEMPTY, os.rmdir, 'd')
fails(errno.EBUSY, os.rename, 'd/.', 'e'); fails(errno.EINVAL, os.rename, 'd', 'd/e')
os.unlink('d/f'); os.rmdir('d'); fails(errno.ENOENT, os.open, 'x', os.O_CREAT, dir_fd=fd)
`),
  'sizes below zero and beyond what can be are refused': python(`
made('f', b'content')
fails(errno.EINVAL, os.truncate, 'f', -1); fails(errno.EFBIG, os.truncate, 'f', 2 ** 62)
fd = os.open('f', os.O_RDONLY); fails(errno.EINVAL, os.ftruncate, fd, 0); fails(errno.EBADF, os.write, fd, b'x')
fails(errno.EINVAL, os.lseek, fd, -1, os.SEEK_SET)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
fails(errno.EFBIG, os.truncate, 'f', 4097); os.truncate('f', 4096)
fd = os.open('f', os.O_WRONLY); assert os.pwrite(fd, b'x' * 100, 4090) == 6; fails(errno.EFBIG, os.pwrite, fd, b'x', 4096)
`),
  'a program that runs cannot be written, and what is written cannot run': python(`
import shutil, subprocess
shutil.copy('/bin/sleep', 'program')
child = subprocess.Popen(['./program', '60'])
try:
    fails(errno.ETXTBSY, os.open, 'program', os.O_WRONLY); fails(errno.ETXTBSY, os.truncate, 'program', 0)
    os.rename('program', 'other'); os.unlink('other')
finally: child.kill(); child.wait()
shutil.copy('/bin/true', 'program'); fd = os.open('program', os.O_WRONLY)
fails(errno.ETXTBSY, subprocess.run, ['./program']); os.close(fd); subprocess.run(['./program'], check=True)
`),
  'pipes and sockets are opened as such': python(`
os.mkfifo('pipe', 0o640); assert stat.S_ISFIFO(os.stat('pipe').st_mode) and bits('pipe') == 0o640
fails(errno.ENXIO, os.open, 'pipe', os.O_WRONLY | os.O_NONBLOCK)
fd = os.open('pipe', os.O_RDONLY | os.O_NONBLOCK); out = os.open('pipe', os.O_WRONLY); os.write(out, b'x'); assert os.read(fd, 9) == b'x'
s = socket.socket(socket.AF_UNIX); s.bind('socket'); s.listen()
assert stat.S_ISSOCK(os.stat('socket').st_mode); fails(errno.ENXIO, os.open, 'socket', os.O_RDWR)
c = socket.socket(socket.AF_UNIX); c.connect('socket'); s.accept()[0].send(b'hello'); assert c.recv(9) == b'hello'
fails(errno.EADDRINUSE, socket.socket(socket.AF_UNIX).bind, 'socket')
`),
  'renaming keeps the rules of what may take the place of what': python(`
directory('empty'); directory('full'); made('full/f'); directory('d'); made('file'); os.link('file', 'same'); os.symlink('none', 'link')
fails(errno.ENOTEMPTY, os.rename, 'd', 'full'); fails(errno.ENOTDIR, os.rename, 'd', 'file'); fails(errno.ENOTDIR, os.rename, 'd', 'link')
fails(errno.EISDIR, os.rename, 'file', 'd'); fails(errno.EISDIR, os.rename, 'link', 'd'); fails(errno.EINVAL, os.rename, 'full', 'full/below')
os.rename('file', 'same'); assert os.path.exists('file') and os.stat('file').st_nlink == 2
os.rename('full', 'empty'); assert os.listdir('empty') == ['f']
os.rename('link', 'same'); assert os.readlink('same') == 'none' and os.stat('file').st_nlink == 1
fd = os.open('d', os.O_RDONLY); os.rename('empty', 'd'); assert os.fstat(fd).st_nlink == 0 and os.listdir(fd) == []
`),
}
