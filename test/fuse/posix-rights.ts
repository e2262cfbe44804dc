import { python } from './python-case.ts'

/** Permissions of calls, and the handling of setuid and setgid bits. */
export const rightsCases: Readonly<Record<string, (directory: string) => void>> = {
  'only the owner changes a mode, and only root an owner': python(`
os.chmod('.', 0o755); made('f', owner=(1001, 1001))
by(1002, [1002], lambda: fails(errno.EPERM, os.chmod, 'f', 0o777))
by(1002, [1002], lambda: fails(errno.EPERM, os.chown, 'f', 1002, 1002))
by(1001, [1001], lambda: fails(errno.EPERM, os.chown, 'f', 1002, -1))
by(1001, [1001], lambda: fails(errno.EPERM, os.chown, 'f', -1, 1002))
by(1001, [1001, 1002], lambda: os.chown('f', -1, 1002)); assert os.stat('f').st_gid == 1002
by(1001, [1001], lambda: os.chmod('f', 0o4711)); assert bits('f') == 0o4711
`),
  'a user outside of the group cannot set the set-group-id bit': python(`
made('f', owner=(1001, 1002)); os.chmod('f', 0o755)
by(1001, [1001], lambda: os.chmod('f', 0o2755)); assert bits('f') == 0o755
by(1001, [1001, 1002], lambda: os.chmod('f', 0o2755)); assert bits('f') == 0o2755
os.chmod('.', 0o2777); os.chown('.', 0, 77)
by(1001, [1001], lambda: os.close(os.open('g', os.O_CREAT, 0o2775))); assert (bits('g'), os.stat('g').st_gid) == (0o775, 77)
by(1001, [1001], lambda: os.mkdir('d')); assert (bits('d'), os.stat('d').st_gid) == (0o2777, 77)
by(1001, [1001], lambda: os.mkfifo('p')); assert os.stat('p').st_gid == 77
`),
  'a new owner, a write and a cut by others take lent rights away': python(`
os.chmod('.', 0o777)
for change in (lambda: os.chown('f', 1001, 1001), lambda: os.chown('f', 1001, -1)):
    made('f', b'x', owner=(1001, 1001)); os.chmod('f', 0o6755)
    change(); assert bits('f') == 0o755, oct(bits('f')); os.unlink('f')
made('f', b'content', owner=(1001, 1001))
for change in (lambda: os.truncate('f', 3), lambda: os.write(os.open('f', os.O_WRONLY), b'y'), lambda: os.open('f', os.O_WRONLY | os.O_TRUNC)):
    os.chmod('f', 0o6777); by(1002, [1002], change); assert bits('f') == 0o777, oct(bits('f'))
os.chmod('f', 0o6777); os.write(os.open('f', os.O_WRONLY), b'z'); assert bits('f') == 0o6777
directory('d', owner=(1001, 1001)); os.chmod('d', 0o6755); os.chown('d', 1002, 1002); assert bits('d') == 0o6755
`),
  'the sticky bit keeps names for their owner, the owner of the directory, and root': python(`
os.chmod('.', 0o755); directory('s', 0o777, (1001, 1001)); os.chmod('s', 0o1777)
for name in 'abc': made('s/' + name, owner=(1002, 1002))
directory('s/d', 0o777, (1002, 1002)); directory('open', 0o777)
def stranger():
    fails(errno.EPERM, os.unlink, 's/a'); fails(errno.EPERM, os.rmdir, 's/d'); fails(errno.EPERM, os.rename, 's/a', 'open/a')
    made('s/mine'); fails(errno.EPERM, os.rename, 's/mine', 's/a'); os.rename('s/mine', 's/own'); os.unlink('s/own')
by(1003, [1003], stranger)
by(1002, [1002], lambda: os.unlink('s/a')); by(1001, [1001], lambda: os.unlink('s/b')); os.unlink('s/c')
by(1001, [1001], lambda: os.rmdir('s/d'))
`),
  'directories must be searched and written': python(`
os.chmod('.', 0o755); directory('shut', 0o700); made('shut/f'); directory('fixed', 0o755); made('fixed/f', mode=0o666); directory('open', 0o777)
def stranger():
    for call in (os.stat, os.unlink, os.mkdir, os.mkfifo, os.utime): fails(errno.EACCES, call, 'shut/f')
    fails(errno.EACCES, os.listdir, 'shut'); fails(errno.EACCES, os.chmod, 'shut/f', 0); fails(errno.EACCES, os.open, 'shut/f', os.O_RDONLY)
    fails(errno.EACCES, os.unlink, 'fixed/f'); fails(errno.EACCES, os.mkdir, 'fixed/d'); fails(errno.EACCES, os.symlink, 'x', 'fixed/l')
    fails(errno.EACCES, os.open, 'fixed/g', os.O_CREAT); fails(errno.EACCES, os.rename, 'fixed/f', 'open/f')
    made('open/f'); fails(errno.EACCES, os.rename, 'open/f', 'fixed/g'); fails(errno.EACCES, os.link, 'open/f', 'fixed/g')
    os.close(os.open('fixed/f', os.O_RDWR))
by(1001, [1001], stranger)
`),
  'reading, writing and running go by owner, group and others, in this order': python(`
os.chmod('.', 0o755)
made('f', mode=0o000, owner=(1001, 1002))
def opens(flags):
    try: os.close(os.open('f', flags)); return True
    except PermissionError: return False
for mode, uid, groups, reads, writes, runs in (
    (0o077, 1001, [1001, 1002], False, False, False), (0o707, 1003, [1002], False, False, False), (0o770, 1003, [1003], False, False, False),
    (0o500, 1001, [9], True, False, True), (0o060, 9, [1002], True, True, False), (0o060, 9, [9, 1002], True, True, False), (0o003, 9, [9], False, True, True)):
    os.chmod('f', mode)
    def look():
        assert [opens(os.O_RDONLY), opens(os.O_WRONLY)] == [reads, writes], oct(mode)
        assert [os.access('f', os.R_OK), os.access('f', os.W_OK), os.access('f', os.X_OK)] == [reads, writes, runs], oct(mode)
    by(uid, groups, look)
`),
  'a directory is moved to another only by who may write it': python(`
os.chmod('.', 0o755); directory('from', 0o777); directory('to', 0o777); directory('from/d', 0o555, (1001, 1001)); directory('from/own', 0o755, (1001, 1001))
def move():
    fails(errno.EACCES, os.rename, 'from/d', 'to/d'); os.rename('from/d', 'from/e'); os.rename('from/own', 'to/own')
by(1001, [1001], move)
`),
  'only root makes devices, and special bits come with the mode': python(`
os.chmod('.', 0o777)
by(1001, [1001], lambda: fails(errno.EPERM, os.mknod, 'c', 0o600 | stat.S_IFCHR, os.makedev(1, 3)))
os.mknod('c', 0o640 | stat.S_IFCHR, os.makedev(1, 3)); s = os.stat('c'); assert stat.S_ISCHR(s.st_mode) and s.st_rdev == os.makedev(1, 3)
os.mknod('b', 0o600 | stat.S_IFBLK, os.makedev(259, 70000)); assert os.stat('b').st_rdev == os.makedev(259, 70000)
os.umask(0o027); os.mknod('f', 0o666); os.mkfifo('p', 0o666); os.mkdir('d', 0o1777)
assert [bits('f'), bits('p'), bits('d')] == [0o640, 0o640, 0o1750]
`),
}
