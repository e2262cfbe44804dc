import { python } from './python-case.ts'

/** Which calls change which times, and how times are set. */
export const timeCases: Readonly<Record<string, (directory: string) => void>> = {
  'what is made has the time it is made, and so has its directory': python(`
for make in (lambda: made('f'), lambda: os.mkdir('d'), lambda: os.mkfifo('p'), lambda: os.symlink('x', 'l'), lambda: os.link('f', 'g')):
    changes(ctime, '.', lambda: changes(mtime, '.', make))
for name in 'fdpl':
    s = os.lstat(name); assert abs(s.st_mtime - time.time()) < 60 and s.st_mtime_ns <= s.st_ctime_ns
for take in (lambda: os.unlink('f'), lambda: os.rmdir('d'), lambda: os.rename('p', 'q')): changes(mtime, '.', take)
`),
  'a change of mode, owner, names or size changes the time of change': python(`
made('f', b'content'); directory('d')
changes(ctime, 'f', lambda: os.chmod('f', 0o600)); changes(ctime, 'f', lambda: os.chown('f', 1, 1))
changes(ctime, 'f', lambda: os.link('f', 'g')); changes(ctime, 'f', lambda: os.unlink('g')); changes(ctime, 'f', lambda: os.truncate('f', 3))
changes(ctime, 'f', lambda: os.setxattr('f', 'user.a', b'x')); changes(ctime, 'f', lambda: os.utime('f', (1, 1)))
changes(ctime, 'd', lambda: os.chmod('d', 0o700))
fd = os.open('f', os.O_RDWR); changes(ctime, 'f', lambda: os.ftruncate(fd, 1))
`),
  'content changes the time of content, and reading or a refusal changes nothing': python(`
made('f', b'content')
changes(mtime, 'f', lambda: os.truncate('f', 9)); changes(mtime, 'f', lambda: os.open('f', os.O_WRONLY | os.O_TRUNC))
def write():
    fd = os.open('f', os.O_WRONLY); os.write(fd, b'more'); os.close(fd)
changes(mtime, 'f', write); changes(ctime, 'f', write)
keeps(mtime, 'f', lambda: os.chmod('f', 0o666)); keeps(mtime, 'f', lambda: os.read(os.open('f', os.O_RDONLY), 9))
os.chmod('.', 0o755); keeps(ctime, 'f', lambda: by(1001, [1001], lambda: fails(errno.EPERM, os.chmod, 'f', 0)))
keeps(ctime, '.', lambda: fails(errno.EEXIST, os.mkdir, 'f')); keeps(mtime, '.', lambda: os.listdir('.'))
`),
  'times are set to the nanosecond, one by one, of links too': python(`
made('f'); os.symlink('f', 'l')
os.utime('f', ns=(1_000_000_001, 2_000_000_002)); assert (os.stat('f').st_atime_ns, mtime('f')) == (1_000_000_001, 2_000_000_002)
os.utime('l', ns=(3, 4), follow_symlinks=False); assert (os.lstat('l').st_mtime_ns, mtime('f')) == (4, 2_000_000_002)
class timespec(ctypes.Structure): _fields_ = [('s', ctypes.c_long), ('n', ctypes.c_long)]
NOW, OMIT = (1 << 30) - 1, (1 << 30) - 2
def utimens(a, m): assert libc.utimensat(AT_FDCWD, b'f', (timespec * 2)(a, m), 0) == 0
utimens(timespec(0, OMIT), timespec(7, 8)); assert (os.stat('f').st_atime_ns, mtime('f')) == (1_000_000_001, 7_000_000_008)
utimens(timespec(0, NOW), timespec(0, OMIT)); assert mtime('f') == 7_000_000_008 and abs(os.stat('f').st_atime - time.time()) < 60
for moment in (-1_500_000_000, 2 ** 33 * 10 ** 9 + 5): os.utime('f', ns=(moment, moment)); assert mtime('f') == moment
`),
  'times are set by the owner, and to now by who may write': python(`
os.chmod('.', 0o755); made('f', mode=0o666, owner=(1001, 1001)); made('g', mode=0o644, owner=(1001, 1001))
by(1001, [1001], lambda: os.utime('f', (1, 1)))
def other():
    fails(errno.EPERM, os.utime, 'f', (1, 1)); os.utime('f'); fails(errno.EACCES, os.utime, 'g'); fails(errno.EPERM, os.utime, 'g', (1, 1))
by(1002, [1002], other); assert mtime('f') > 10 ** 18
`),
}
