import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { run } from '../support/tools.ts'

const NOBODY = 65534

/** Rules of POSIX, each on its own empty directory. They are first proven on a plain directory. */
export const posixCases: Readonly<Record<string, (directory: string) => void>> = {
  'a file keeps what is written at any place, with zeros between'(at) {
    const file = join(at, 'f')
    const fd = fs.openSync(file, 'w+')
    fs.writeSync(fd, 'end', 100_000)
    fs.writeSync(fd, 'begin', 0)
    fs.closeSync(fd)
    const content = fs.readFileSync(file)
    assert.equal(content.length, 100_003)
    assert.equal(content.subarray(0, 6).toString('latin1'), 'begin\0')
    assert.equal(content.subarray(-4).toString('latin1'), '\0end')
  },
  'an append goes to the end, after writes of any descriptor'(at) {
    const file = join(at, 'f')
    const [one, other] = [fs.openSync(file, 'a'), fs.openSync(file, 'a')]
    for (const fd of [one, other, one]) fs.writeSync(fd, fd === one ? 'a' : 'b')
    fs.closeSync(one)
    fs.closeSync(other)
    assert.equal(fs.readFileSync(file, 'utf8'), 'aba')
  },
  'truncating cuts, and growing again brings zeros'(at) {
    const file = join(at, 'f')
    fs.writeFileSync(file, 'x'.repeat(70_000))
    fs.truncateSync(file, 10)
    fs.truncateSync(file, 40_000)
    assert.deepEqual(
      fs.readFileSync(file),
      Buffer.concat([Buffer.from('x'.repeat(10)), Buffer.alloc(39_990)]),
    )
  },
  'a directory counts a link for itself, its dot, and each subdirectory'(at) {
    const links = (...names: string[]) => names.map((name) => fs.statSync(join(at, name)).nlink)
    for (const name of ['a', 'b', 'a/c', 'a/d', 'b/e']) fs.mkdirSync(join(at, name))
    fs.writeFileSync(join(at, 'a/f'), '')
    assert.deepEqual(links('a', 'b', 'a/c'), [4, 3, 2])
    fs.renameSync(join(at, 'a/c'), join(at, 'b/c'))
    fs.renameSync(join(at, 'a/d'), join(at, 'b/e'))
    assert.deepEqual(links('a', 'b', 'b/e'), [2, 4, 2])
    fs.rmdirSync(join(at, 'b/c'))
    assert.deepEqual(links('b'), [3])
    const fd = fs.openSync(join(at, 'b/e'), 'r')
    fs.rmdirSync(join(at, 'b/e'))
    assert.equal(fs.fstatSync(fd).nlink, 0)
    fs.closeSync(fd)
  },
  'exclusive creation refuses what is there'(at) {
    const file = join(at, 'f')
    fs.closeSync(fs.openSync(file, 'wx'))
    refuses('EEXIST', () => fs.openSync(file, 'wx'))
  },
  'a file created read-only can be written through the descriptor that created it'(at) {
    const fd = fs.openSync(join(at, 'f'), 'wx', 0o444)
    fs.writeSync(fd, 'content')
    fs.closeSync(fd)
    assert.equal(fs.readFileSync(join(at, 'f'), 'utf8'), 'content')
    assert.equal(fs.statSync(join(at, 'f')).mode & 0o777, 0o444)
  },
  'a file that is removed while it is open can be read and written'(at) {
    const file = join(at, 'f')
    const fd = fs.openSync(file, 'w+')
    fs.writeSync(fd, 'before')
    fs.unlinkSync(file)
    assert.equal(fs.existsSync(file), false)
    fs.writeSync(fd, ' after')
    const content = Buffer.alloc(12)
    fs.readSync(fd, content, 0, 12, 0)
    assert.equal(content.toString(), 'before after')
    assert.equal(fs.fstatSync(fd).nlink, 0)
    fs.closeSync(fd)
  },
  'a file that is replaced while it is open stays what it was for its reader'(at) {
    fs.writeFileSync(join(at, 'old'), 'old')
    fs.writeFileSync(join(at, 'new'), 'new')
    const fd = fs.openSync(join(at, 'old'), 'r')
    fs.renameSync(join(at, 'new'), join(at, 'old'))
    const content = Buffer.alloc(3)
    fs.readSync(fd, content)
    fs.closeSync(fd)
    assert.equal(content.toString(), 'old')
    assert.equal(fs.readFileSync(join(at, 'old'), 'utf8'), 'new')
  },
  'hard links are one file'(at) {
    const [one, other] = [join(at, 'one'), join(at, 'other')]
    fs.writeFileSync(one, 'x')
    fs.linkSync(one, other)
    fs.appendFileSync(other, 'y')
    assert.equal(fs.readFileSync(one, 'utf8'), 'xy')
    assert.deepEqual([fs.statSync(one).nlink, fs.statSync(one).ino], [2, fs.statSync(other).ino])
    fs.unlinkSync(one)
    assert.equal(fs.statSync(other).nlink, 1)
    refuses('EPERM', () => fs.linkSync(at, join(at, 'directory')))
  },
  'a symbolic link is kept as it is written, and leads on'(at) {
    fs.symlinkSync('target', join(at, 'link'))
    assert.equal(fs.readlinkSync(join(at, 'link')), 'target')
    refuses('ENOENT', () => fs.readFileSync(join(at, 'link')))
    fs.writeFileSync(join(at, 'target'), 'there')
    assert.equal(fs.readFileSync(join(at, 'link'), 'utf8'), 'there')
    fs.symlinkSync('loop', join(at, 'loop'))
    refuses('ELOOP', () => fs.readFileSync(join(at, 'loop')))
  },
  'a rename takes the place of a file, and of an empty directory only'(at) {
    for (const name of ['a', 'b', 'full']) fs.mkdirSync(join(at, name))
    fs.writeFileSync(join(at, 'full/f'), '')
    fs.writeFileSync(join(at, 'file'), '')
    fs.renameSync(join(at, 'a'), join(at, 'b'))
    refuses('ENOTEMPTY', () => fs.renameSync(join(at, 'b'), join(at, 'full')))
    refuses('ENOTDIR', () => fs.renameSync(join(at, 'b'), join(at, 'file')))
    refuses('EISDIR', () => fs.renameSync(join(at, 'file'), join(at, 'b')))
    refuses('EINVAL', () => fs.renameSync(join(at, 'b'), join(at, 'b/below')))
    assert.deepEqual(fs.readdirSync(at).sort(), ['b', 'file', 'full'])
  },
  'a directory moves with all that is in it'(at) {
    fs.mkdirSync(join(at, 'from/deep'), { recursive: true })
    fs.mkdirSync(join(at, 'to'))
    fs.writeFileSync(join(at, 'from/deep/f'), 'x')
    fs.renameSync(join(at, 'from'), join(at, 'to/from'))
    assert.equal(fs.readFileSync(join(at, 'to/from/deep/f'), 'utf8'), 'x')
    assert.equal(fs.existsSync(join(at, 'from')), false)
  },
  'names may have every byte of UTF-8 but a slash, and 255 of them'(at) {
    const names = ['new\nline', ' ', '..a', 'ü'.repeat(127), 'x'.repeat(255), '日本', '*?[']
    for (const name of names) fs.writeFileSync(join(at, name), name)
    assert.deepEqual(fs.readdirSync(at).sort(), names.sort())
    for (const name of names) assert.equal(fs.readFileSync(join(at, name), 'utf8'), name)
    refuses('ENAMETOOLONG', () => fs.writeFileSync(join(at, 'x'.repeat(256)), ''))
  },
  'a large directory lists every name once, also while it shrinks'(at) {
    const names = Array.from({ length: 1500 }, (_, index) => `name-${index}`)
    for (const name of names) fs.writeFileSync(join(at, name), '')
    assert.deepEqual(fs.readdirSync(at).sort(), names.toSorted())
    const seen: string[] = []
    const listing = fs.opendirSync(at)
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      seen.push(entry.name)
      fs.unlinkSync(join(at, entry.name))
    }
    listing.closeSync()
    assert.deepEqual(seen.sort(), names.toSorted())
    assert.deepEqual(fs.readdirSync(at), [])
  },
  'removing a directory needs it to be empty'(at) {
    fs.mkdirSync(join(at, 'd'))
    fs.writeFileSync(join(at, 'd/f'), '')
    refuses('ENOTEMPTY', () => fs.rmdirSync(join(at, 'd')))
    refuses('ENOTDIR', () => fs.rmdirSync(join(at, 'd/f')))
    fs.unlinkSync(join(at, 'd/f'))
    fs.rmdirSync(join(at, 'd'))
    refuses('ENOENT', () => fs.rmdirSync(join(at, 'd')))
  },
  'modes, owners and times are kept'(at) {
    const file = join(at, 'f')
    fs.writeFileSync(file, 'x')
    fs.chmodSync(file, 0o4751)
    fs.chownSync(file, 12, 34)
    fs.chmodSync(file, 0o640)
    fs.utimesSync(file, 1_000_000_000.25, 1_100_000_000.5)
    const { mode, uid, gid, atimeMs, mtimeMs } = fs.statSync(file)
    assert.deepEqual(
      [mode & 0o7777, uid, gid, atimeMs, mtimeMs],
      [0o640, 12, 34, 1_000_000_000_250, 1_100_000_000_500],
    )
    run('touch', '-d', '1969-12-31T23:59:58.5Z', file)
    assert.equal(fs.statSync(file).mtimeMs, -1500)
  },
  'the umask and the set-group-id bit of a directory count for what is made in it'(at) {
    fs.chownSync(at, 0, 77)
    fs.chmodSync(at, 0o2777)
    run('sh', '-c', 'umask 027; cd "$1"; mkdir d; : > f', 'sh', at)
    const [directory, file] = [fs.statSync(join(at, 'd')), fs.statSync(join(at, 'f'))]
    assert.deepEqual([directory.mode & 0o7777, directory.gid], [0o2750, 77])
    assert.deepEqual([file.mode & 0o7777, file.gid], [0o640, 77])
  },
  'a new owner and a write by others take the set-user-id bit away'(at) {
    const file = join(at, 'f')
    fs.writeFileSync(file, 'x')
    fs.chmodSync(file, 0o6777)
    fs.chownSync(file, NOBODY, NOBODY)
    assert.equal(fs.statSync(file).mode & 0o7777, 0o777)
    fs.chmodSync(file, 0o6777)
    fs.chmodSync(at, 0o777)
    asNobody('echo y >> f', at)
    assert.equal(fs.statSync(file).mode & 0o7777, 0o777)
    assert.equal(fs.readFileSync(file, 'utf8'), 'xy\n')
  },
  'permissions stop others, and the sticky bit keeps their names'(at) {
    fs.chmodSync(at, 0o1777)
    fs.writeFileSync(join(at, 'secret'), 'x', { mode: 0o600 })
    fs.mkdirSync(join(at, 'shut'), { mode: 0o700 })
    for (const command of ['cat secret', 'ls shut', 'rm -f secret', 'mv secret mine', 'touch shut/f'])
      assert.throws(() => asNobody(command, at), `${command} was let through`)
    asNobody('echo mine > own && rm own', at)
    assert.deepEqual(fs.readdirSync(at).sort(), ['secret', 'shut'])
  },
  'extended attributes are set, listed, replaced and removed'(at) {
    const file = join(at, 'f')
    fs.writeFileSync(file, '')
    const script = `
import os, sys
f = sys.argv[1]
os.setxattr(f, 'user.a', b'one'); os.setxattr(f, 'user.b', bytes(3000))
assert os.getxattr(f, 'user.a') == b'one' and len(os.getxattr(f, 'user.b')) == 3000
assert sorted(os.listxattr(f)) == ['user.a', 'user.b']
os.setxattr(f, 'user.a', b'two', os.XATTR_REPLACE)
def fails(code, call):
    try: call()
    except OSError as e: assert e.errno == code, e
    else: assert False, 'nothing was refused'
fails(17, lambda: os.setxattr(f, 'user.a', b'x', os.XATTR_CREATE))
fails(61, lambda: os.setxattr(f, 'user.c', b'x', os.XATTR_REPLACE))
os.removexattr(f, 'user.a'); fails(61, lambda: os.getxattr(f, 'user.a'))
`
    run('python3', '-c', script, file)
  },
  'pipes and sockets can be made and used'(at) {
    run('sh', '-c', 'cd "$1"; mkfifo p; (echo through > p &) ; test "$(cat p)" = through', 'sh', at)
    assert.equal(fs.statSync(join(at, 'p')).isFIFO(), true)
  },
  'a mapped file is written, and read back'(at) {
    const script = `
import mmap, sys
with open(sys.argv[1], 'w+b') as f:
    f.truncate(300000)
    m = mmap.mmap(f.fileno(), 300000)
    m[0:5] = b'begin'; m[150000:150003] = b'mid'; m[299997:300000] = b'end'
    m.flush(); m.close()
d = open(sys.argv[1], 'rb').read()
assert d[:5] == b'begin' and d[150000:150003] == b'mid' and d[-3:] == b'end' and len(d) == 300000
`
    run('python3', '-c', script, join(at, 'f'))
  },
  'holes are found and punched'(at) {
    const script = `
import os, sys, ctypes
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.pwrite(fd, b'x' * 65536, 0); os.pwrite(fd, b'y' * 65536, 1048576); os.fsync(fd)
assert os.lseek(fd, 0, os.SEEK_DATA) == 0
hole = os.lseek(fd, 0, os.SEEK_HOLE)
assert 65536 <= hole < 1048576, hole
assert 65536 < os.lseek(fd, hole, os.SEEK_DATA) <= 1048576
libc = ctypes.CDLL(None, use_errno=True)
assert libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(65536)) == 0, ctypes.get_errno()
assert os.pread(fd, 65536, 0) == bytes(65536) and os.fstat(fd).st_size == 1114112
assert os.stat(sys.argv[1]).st_blocks * 512 < 200000
os.posix_fallocate(fd, 0, 2000000); assert os.fstat(fd).st_size == 2000000
`
    run('python3', '-c', script, join(at, 'f'))
  },
  'names are exchanged, and a rename can refuse to replace'(at) {
    const script = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True); os.chdir(sys.argv[1])
for n in 'ab': open(n, 'w').write(n)
def rename(a, b, flags): return 0 if libc.renameat2(-100, a, -100, b, flags) == 0 else ctypes.get_errno()
assert rename(b'a', b'b', 1) == 17
assert rename(b'a', b'b', 2) == 0 and open('a').read() == 'b' and open('b').read() == 'a'
assert rename(b'a', b'none', 2) == 2 and rename(b'a', b'c', 1) == 0
`
    run('python3', '-c', script, at)
  },
  'a file without a name can be given one'(at) {
    const script = `
import ctypes, os, sys
os.chdir(sys.argv[1])
fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600); os.write(fd, b'content')
assert os.listdir('.') == [] and os.fstat(fd).st_nlink == 0
assert ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % fd, -100, b'named', 0x400) == 0; os.close(fd)
assert open('named').read() == 'content' and os.stat('named').st_nlink == 1
`
    run('python3', '-c', script, at)
  },
  'locks keep others out'(at) {
    const script = `
import fcntl, os, sys
f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX)
pid = os.fork()
if pid == 0:
    g = open(sys.argv[1], 'r+')
    try: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError: os._exit(0)
    os._exit(1)
assert os.waitpid(pid, 0)[1] == 0
`
    run('python3', '-c', script, join(at, 'f'))
  },
  'copying within the directory copies everything'(at) {
    const content = Buffer.alloc(300_000, 'copy me ')
    fs.writeFileSync(join(at, 'from'), content)
    fs.copyFileSync(join(at, 'from'), join(at, 'to'))
    assert.equal(fs.readFileSync(join(at, 'to')).equals(content), true)
  },
}

function refuses(code: string, work: () => unknown): void {
  assert.throws(work, { code })
}

function asNobody(command: string, directory: string): void {
  run(
    'setpriv',
    `--reuid=${NOBODY}`,
    `--regid=${NOBODY}`,
    '--clear-groups',
    'sh',
    '-ec',
    `cd "$1"; ${command}`,
    'sh',
    directory,
  )
}
