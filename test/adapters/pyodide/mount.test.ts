import { type FileSystem, MemoryFs, OverlayFs, ReadOnlyFs, readText } from 'coppice'
import { mountInPyodide } from 'coppice/adapters/pyodide'
import { openHome } from 'coppice/store'
import type { SyncFileSystem } from 'coppice/vfs'
import fc from 'fast-check'
import { loadPyodide } from 'pyodide'
import { afterAll, describe, expect, it } from 'vitest'
import { PRELUDE, programs, sqliteProgram } from './programs.ts'

const pyodide = await loadPyodide()
pyodide.runPython(PRELUDE)
const home = await openHome()
const vault = await home.createVault('files')
afterAll(() => home.close())

const memory = new MemoryFs()
mountInPyodide(pyodide, memory, '/memory')
mountInPyodide(pyodide, vault, '/vault')

const python = (code: string): unknown => pyodide.runPython(code)

function saidBy(code: string, root: string): unknown {
  return JSON.parse(String(python(`run(${JSON.stringify(root)}, ${JSON.stringify(code)})`)))
}

/** Number of mounts, for a unique mount point in each test. */
let mounts = 0
function mounted(fs: FileSystem | SyncFileSystem): string {
  mounts += 1
  mountInPyodide(pyodide, fs, `/mount-${mounts}`)
  return `/mount-${mounts}`
}

describe('Python on a mounted file system', () => {
  for (const { name, code, says, isBeyondMemfs } of programs) {
    it(name, () => {
      const root = `/${name.replaceAll(/\W+/g, '-')}`
      expect(saidBy(code, `/memory${root}`)).toEqual(says)
      expect(saidBy(code, `/vault${root}`)).toEqual(says)
      if (!isBeyondMemfs) expect(saidBy(code, `/memfs${root}`)).toEqual(says)
    })
  }

  it('applies the umask when a file is created, and not to a later fchmod', () => {
    const root = mounted(new MemoryFs())
    const modes = python(`
import os
fd = os.open("${root}/f", os.O_CREAT | os.O_WRONLY, 0o666)
modes = [oct(os.fstat(fd).st_mode & 0o777)]
os.fchmod(fd, 0o666)
modes.append(oct(os.fstat(fd).st_mode & 0o777))
os.close(fd)
" ".join(modes)`)
    expect(modes).toBe('0o644 0o666')
  })

  it.each(['delete', 'truncate', 'persist', 'wal'])(
    'supports SQLite databases with journal mode %s',
    (journal) => {
      const code = sqliteProgram(journal)
      const says = [journal, 'database is locked', '2000 1999000', '1000 ok', "['x.db']"]
      expect(saidBy(code, `/memory/sqlite-${journal}`)).toEqual(says)
      expect(saidBy(code, `/vault/sqlite-${journal}`)).toEqual(says)
    },
  )
})

describe('the two sides of a mount', () => {
  it('see changes of the other side at once', async () => {
    for (const fs of [new MemoryFs(), await home.createVault('both')]) {
      const root = mounted(fs)
      await fs.write('/f', 'ours')
      expect(python(`open("${root}/f").read()`)).toBe('ours')
      python(`f = open("${root}/f", "r+"); f.write("THE"); f.flush()`)
      expect(await readText(fs, '/f')).toBe('THEs')
      await fs.write('/f', 'replaced')
      expect(python(`os.stat("${root}/f").st_size`)).toBe(8)
      python('f.close()')
    }
  })

  it('do not cache names that the other side removed or replaced', async () => {
    const fs = new MemoryFs({ '/d/f': 'one', '/e': 'two' })
    const root = mounted(fs)
    const state = () =>
      python(`os.path.isdir("${root}/x"), os.path.isfile("${root}/x"), os.path.exists("${root}/d/f")`)
    const stateNow = () => String(state())
    python(`os.rename("${root}/e", "${root}/x"); os.listdir("${root}/d"); os.stat("${root}/d/f")`)
    expect(stateNow()).toBe('(False, True, True)')
    python(`os.rename("${root}/x", "${root}/z"); open("${root}/x", "w").close(); os.unlink("${root}/z")`)
    await fs.remove('/x')
    await fs.remove('/d', { recursive: true })
    expect(stateNow()).toBe('(False, False, False)')
    await fs.mkdir('/x')
    await fs.write('/d', 'a file now')
    expect(stateNow()).toBe('(True, False, False)')
    expect(python(`open("${root}/x/in", "w").close(); open("${root}/d").read()`)).toBe('a file now')
    await fs.rename('/d', '/y')
    await fs.rename('/x', '/d')
    await fs.write('/d/f', 'back')
    expect(stateNow()).toBe('(False, False, True)')
    expect(python(`open("${root}/y").read() + open("${root}/d/f").read()`)).toBe('a file nowback')
  })

  it("leave nothing in the interpreter's table of names", async () => {
    const fs = new MemoryFs()
    const root = mounted(fs)
    const names = () => pyodide.FS.nameTable.filter((node: unknown) => node !== undefined).length
    python(`open("${root}/f0", "w").close()`)
    const before = names()
    python(`for i in range(100): os.rename(f"${root}/f{i}", f"${root}/f{i + 1}")`)
    python(`os.stat("${root}/f100")`)
    expect(names()).toBe(before)
  })

  it('resolve an absolute link equally, whatever the mount point', async () => {
    const fs = new MemoryFs({ '/d/f': 'content' })
    const root = mounted(fs)
    python(`os.symlink("${root}/d/f", "${root}/link")`)
    expect(await readText(fs, '/link')).toBe('content')
    await fs.symlink('/d', '/other')
    expect(python(`open("${root}/other/f").read()`)).toBe('content')
    expect(python(`failure(lambda: os.symlink("/tmp", "${root}/out"))`)).toBe('EXDEV')
  })
})

describe('a mount', () => {
  it('reads only the requested part of a large file', async () => {
    const fs = new MemoryFs()
    const handle = fs.sync.open('/large', { write: true, create: true })
    handle.write(200_000_000, new TextEncoder().encode('the end'))
    handle.close()
    const read: number[] = []
    const root = mounted(readCounting(fs.sync, read))
    const code = `f = open("${root}/large", "rb", buffering=0); f.seek(-7, 2); end = f.read(7); f.close(); end.decode()`
    expect(python(code)).toBe('the end')
    expect(read).toEqual([7])
  })

  it('may be nested, and shows the covered files again afterwards', () => {
    const root = mounted(new MemoryFs({ '/inner/hidden': '' }))
    const inner = mountInPyodide(pyodide, new MemoryFs({ '/f': 'inner' }), `${root}/inner`)
    expect(python(`open("${root}/inner/f").read()`)).toBe('inner')
    expect(python(`failure(lambda: os.rename("${root}/inner", "${root}/else"))`)).toBe('EBUSY')
    inner.unmount()
    inner.unmount()
    expect(python(`os.listdir("${root}/inner")[0]`)).toBe('hidden')
  })

  it('can be unmounted after the mount around it, and leaves a later one at its path alone', () => {
    const outer = mountInPyodide(pyodide, new MemoryFs(), '/outer')
    const inner = mountInPyodide(pyodide, new MemoryFs(), '/outer/inner')
    const second = mountInPyodide(pyodide, new MemoryFs(), '/outer/second')
    outer.unmount()
    second.unmount()
    mountInPyodide(pyodide, new MemoryFs({ '/f': 'later' }), '/outer/inner')
    inner.unmount()
    inner[Symbol.dispose]()
    expect(python('open("/outer/inner/f").read()')).toBe('later')
  })

  it('can be unmounted while another one covers it', () => {
    const covered = mountInPyodide(pyodide, new MemoryFs({ '/f': 'covered' }), '/around/covered')
    const around = mountInPyodide(pyodide, new MemoryFs({ '/covered/f': 'around' }), '/around')
    covered.unmount()
    expect(python('open("/around/covered/f").read()')).toBe('around')
    around.unmount()
    expect(python('len(os.listdir("/around/covered"))')).toBe(0)
  })

  it('can be unmounted after its directory is gone, and does not come back with it', async () => {
    const fs = new MemoryFs()
    const root = mounted(fs)
    const inner = mountInPyodide(pyodide, new MemoryFs({ '/f': 'inner' }), `${root}/inner`)
    await fs.remove('/inner', { recursive: true })
    inner.unmount()
    await fs.mkdir('/inner')
    expect(python(`len(os.listdir("${root}/inner"))`)).toBe(0)
  })

  it('keeps its files apart from those of another mount with the same inode numbers', () => {
    const [one, other] = [mounted(new MemoryFs({ '/f': '' })), mounted(new MemoryFs({ '/f': '' }))]
    expect(python(`os.stat("${one}/f").st_ino == os.stat("${other}/f").st_ino`)).toBe(true)
    expect(python(`os.path.samefile("${one}/f", "${other}/f")`)).toBe(false)
  })

  it('reports refused operations', () => {
    const fs = new MemoryFs({ '/file': '' })
    mountInPyodide(pyodide, fs, '/taken')
    expect(() => mountInPyodide(pyodide, fs, '/taken')).toThrow(
      /EEXIST: another file system is mounted there, mount '\/taken'/,
    )
    expect(() => mountInPyodide(pyodide, fs, '/taken/file')).toThrow(
      /ENOTDIR: the mount point is not a directory, mount '\/taken\/file'/,
    )
    const readOnly = mounted(new ReadOnlyFs(fs))
    expect(() => mountInPyodide(pyodide, fs, `${readOnly}/new`)).toThrow(
      /EROFS: the mount point cannot be created, mount '.*\/new'/,
    )
    expect(() => mountInPyodide(pyodide, fs, '/')).toThrow(/EINVAL: Python has its own files at this path/)
    const waiting = new OverlayFs(new MemoryFs())
    expect(() => mountInPyodide(pyodide, waiting, '/waiting')).toThrow(/ENOTSUP: .*createPython/)
  })
})

/** Steps with the same result on Emscripten's files in memory. */
const name = fc.constantFrom('a', 'b', 'd', 'd/a', 'd/e')
const act = fc.oneof(
  fc.tuple(fc.constant('write'), name, fc.nat(9000), fc.nat(5000)),
  fc.tuple(fc.constant('append'), name, fc.nat(300), fc.nat(5000)),
  fc.tuple(fc.constant('truncate'), name, fc.nat(9000), fc.constant(0)),
  fc.tuple(fc.constantFrom('read', 'mkdir', 'rmdir', 'unlink', 'list'), name, fc.constant(0), fc.constant(0)),
  fc.tuple(fc.constantFrom('rename', 'symlink'), name, name, fc.constant(0)),
)
const ACT = `
def act(kind, name, first, second):
    if kind == "write":
        with open(name, "r+b" if os.path.exists(name) else "wb") as f:
            f.seek(first); f.write(bytes([first % 256]) * second)
    elif kind == "append":
        with open(name, "ab") as f: f.write(bytes([second % 256]) * first)
    elif kind == "truncate": os.truncate(name, first)
    elif kind == "read":
        data = open(name, "rb").read()
        return [len(data), sum(data)]
    elif kind == "mkdir": os.mkdir(name)
    elif kind == "rmdir": os.rmdir(name)
    elif kind == "unlink": os.unlink(name)
    elif kind == "list": return sorted(os.listdir(name))
    elif kind == "rename": os.rename(name, first)
    elif kind == "symlink": os.symlink(first, name)

for each in json.loads(ACTS):
    try:
        say(each, act(*each))
    except OSError as error:
        say(each, errno.errorcode[error.errno])
`

describe('any sequence of steps', () => {
  it("has the same result as on the interpreter's own files", () => {
    let run = 0
    fc.assert(
      fc.property(fc.array(act, { minLength: 5, maxLength: 40 }), (acts) => {
        run += 1
        const code = `ACTS = ${JSON.stringify(JSON.stringify(acts))}\n${ACT}`
        expect(saidBy(code, `/memory/run-${run}`)).toEqual(saidBy(code, `/memfs/run-${run}`))
      }),
      { numRuns: 60 },
    )
  })
})

function readCounting(fs: SyncFileSystem, read: number[]): SyncFileSystem {
  const open: SyncFileSystem['open'] = (path, options, ctx) => {
    const handle = fs.open(path, options, ctx)
    const counted = (position: number, length: number) => {
      const bytes = handle.read(position, length)
      read.push(bytes.length)
      return bytes
    }
    return {
      read: counted,
      write: (position, bytes) => handle.write(position, bytes),
      truncate: (size) => handle.truncate(size),
      stat: () => handle.stat(),
      sync: () => handle.sync(),
      close: () => handle.close(),
    }
  }
  return new Proxy(fs, {
    get: (target, key) => {
      if (key === 'open') return open
      const method = Reflect.get(target, key)
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
}
