import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  assertDirectories,
  ConfigError,
  ConfigFile,
  readConfig,
  resolveConfigPaths,
  setConfig,
} from './index.ts'

function homeWith(text?: string): { home: string; file: string } {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-config-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const home = join(directory, 'home')
  mkdirSync(home)
  const file = join(home, 'config.toml')
  if (text !== undefined) writeFileSync(file, text)
  return { home, file }
}

describe('readConfig', () => {
  it('is empty without a file', async () => expect(await readConfig(homeWith().home)).toEqual({}))

  it('is read again after a change in place, removal and replacement', async () => {
    const { home, file } = homeWith('vault = "one"\n')
    const [longAgo, laterThen] = [new Date('2020-01-01'), new Date('2020-01-02')]
    utimesSync(file, longAgo, longAgo)
    expect((await readConfig(home)).vault).toBe('one')
    expect((await readConfig(home)).vault).toBe('one')
    writeFileSync(file, 'vault = "two"\n')
    utimesSync(file, laterThen, laterThen)
    expect((await readConfig(home)).vault).toBe('two')
    rmSync(file)
    expect(await readConfig(home)).toEqual({})
    writeFileSync(file, 'vault = "six"\n')
    expect((await readConfig(home)).vault).toBe('six')
  })

  it('reads its three settings', async () => {
    const { home } = homeWith('vault = "base"\nengine = \'lmdb\'\ndurability = "full" # slow\n')
    expect(await readConfig(home)).toEqual({ vault: 'base', engine: 'lmdb', durability: 'full' })
  })

  it.each([
    ['\nvalut = "base"', 2, "there is no setting 'valut'; known: vault, engine, durability"],
    ['# a\n\n[engine]\nname = "lmdb"', 3, 'engine must be one of sqlite, lmdb'],
    ['vault = "a"\nengine = "oracle"', 2, 'engine must be one of sqlite, lmdb'],
    ['durability = 3', 1, 'durability must be one of full, process, relaxed, not 3'],
    ['vault = 1', 1, 'vault must be a name in quotes, not 1'],
    ['vault = "a"\nvault = "b"', 2, 'not valid TOML'],
    ['constructor = 1', 1, "there is no setting 'constructor'"],
    ['vault = ""', 1, 'vault must be a name in quotes, not ""'],
    [
      '[vfs]\nbackend = "valut"',
      2,
      'vfs.backend must be one of vault, local, not "valut"; did you mean \'vault\'?',
    ],
    [
      '[vfs]\nbakend = "vault"',
      2,
      "there is no setting 'vfs.bakend'; known: backend; did you mean 'backend'?",
    ],
    ['vfs = "local"', 1, 'vfs must be a table, not "local"'],
    [
      '[tools]\n\ntool_output_cache_threshold = "4k"',
      3,
      'must be a number of characters, 0 or more, not "4k"',
    ],
    [
      '[tools]\ntool_cache_max_age_days = -1',
      2,
      'tools.tool_cache_max_age_days must be a number of days, 0 or more',
    ],
    [
      '[tools]\ntool_cache_max_bytes = 1.5',
      2,
      'tools.tool_cache_max_bytes must be a number of bytes, 0 or more',
    ],
    ['[tools]\ntool_cache_max_byte = 1', 2, "; did you mean 'tool_cache_max_bytes'?"],
    [
      '[processes]\nquestion_seconds = 2592000',
      2,
      'processes.question_seconds must be a number of seconds from 1 to 2147483, not 2592000',
    ],
    ['[host]\nallow = "/srv"', 2, 'host.allow must be a list of directories in quotes, not "/srv"'],
    ['[host]\nallow = [\n  "/srv",\n  3\n]', 4, 'host.allow.1 must be a directory in quotes, not 3'],
    ['[host]\nallow = ["~/code"]', 2, 'host.allow.0 must be a directory written in full (~ is not expanded)'],
    ['[host]\nprotect = [1]', 2, 'host.protect.0 must be a name or a glob in quotes, not 1'],
    [
      '[host]\nprotect = [\n"*.pem",\n"[z-a]"]',
      4,
      'host.protect.1 must be a name or a glob that can match a file name, not "[z-a]"',
    ],
    ['[host]\nprotect = ["/"]', 2, 'host.protect.0 must be a name or a glob that can match a file name'],
    ['[host]\nprotect_usual = "no"', 2, 'host.protect_usual must be true or false, not "no"'],
    ['vault = "zones"', 1, 'vault must be another vault than the one that holds the zones of all contexts'],
    [
      '[mounts."/z"]\nbackend = "vault"\nvault = "zones"\naccess = "write"',
      4,
      'mounts."/z".access must be read for the vault zones, since it holds the zones of all contexts',
    ],
    [
      'vault = "boundary"',
      1,
      'vault must be another vault than the one that belongs to the execution boundary',
    ],
    [
      '[mounts."/b"]\nbackend = "vault"\nvault = "boundary"\naccess = "write"',
      4,
      'mounts."/b".access must be read for the vault boundary, since it belongs to the execution boundary',
    ],
    [
      '\n[mounts."__proto__"]\nbackend = "memory"',
      2,
      "'__proto__' is not a mount path: the path is not absolute",
    ],
    ['[mounts."/a\\nb"]\nbackend = "memory"', 1, '\'"/a\\nb"\' is not a mount path: it has unprintable'],
    ['[mounts."/a\\u202eb"]\nbackend = "memory"', 1, 'it has unprintable characters'],
    ['[mounts."/a"]\naccess = "read"', 1, 'mounts."/a".backend is missing: one of host, memory, vault'],
    [
      '[mounts."/a"]\nbackend = "hots"',
      2,
      'must be one of host, memory, vault, not "hots"; did you mean \'host\'?',
    ],
    ['[mounts."/a"]\nbackend = "host"', 1, 'mounts."/a".directory is missing: a directory in quotes'],
    ['mounts = { "/a" = "host" }', 1, 'mounts."/a" must be a table with a backend, not "host"'],
    [
      '[mounts."/a"]\nbackend = "memory"\ndirectory = "/x"',
      3,
      'there is no setting \'mounts."/a".directory\'',
    ],
    [
      '[mounts."/a"]\nbackend = "memory"\naccess = "rw"',
      3,
      'mounts."/a".access must be one of read, write, not "rw"',
    ],
    ['[mounts."/a"]\nbackend = "vault"\nvault = 3', 3, 'mounts."/a".vault must be a vault in quotes, not 3'],
    [
      '[mounts."/a"]\nbackend = "vault"\nvault = "v"\nat = "c"\naccess = "write"',
      5,
      'mounts."/a".access must be read together with at, since a checkpoint is read-only, not "write"',
    ],
    ['[mounts.a]\nbackend = "memory"', 1, "'a' is not a mount path: "],
    ['[mounts."/a/"]\nbackend = "memory"', 1, "'/a/' is not a mount path: the path ends with a slash"],
    [
      '[mounts."/a/../b"]\nbackend = "memory"',
      1,
      "'/a/../b' is not a mount path: the path has a '..' component",
    ],
    ['[mounts."/"]\nbackend = "memory"', 1, 'the root belongs to the zones; mount below it'],
    ['[mounts."/sys/x"]\nbackend = "memory"', 1, "'/sys/x' is in /sys; mount outside of /shared, /home"],
    ['[mounts."/workspace"]\nbackend = "memory"', 1, "'/workspace' is in /workspace"],
    [
      '[mounts."/a"]\nbackend = "memory"\n[mounts."/a/b"]\nbackend = "memory"',
      3,
      "'/a/b' lies inside the mount '/a'; mounts do not nest",
    ],
    ['[mounts."/a"]\nbackend = "memory"\n[mounts."/a"]\nbackend = "host"', 3, 'not valid TOML'],
  ])('refuses %j with file and line', async (text, line, problem) => {
    const { home, file } = homeWith(text)
    const error = await readConfig(home).catch((thrown: unknown) => String(thrown))
    expect(error).toContain(`${file}:${line}: `)
    expect(error).toContain(problem)
  })

  it('accepts all known settings, and mounts whose names begin like a zone', async () => {
    const text = `vault = "base"
[vfs]
backend = "local"
[tools]
tool_output_cache_threshold = 0
tool_cache_preview_chars = 100
tool_cache_max_age_days = 1
tool_cache_max_bytes = 1_000
[host]
allow = ["/srv"]
protect = [".env"]
protect_usual = false
[mounts]
"/a" = { backend = "memory", access = "write" }
"/ab" = { backend = "host", directory = "docs" }
"/homer" = { backend = "vault", vault = "base", at = "start" }
"/zoned" = { backend = "vault", vault = "zones" }
`
    expect(await readConfig(homeWith(text).home)).toEqual({
      vault: 'base',
      vfs: { backend: 'local' },
      tools: {
        tool_output_cache_threshold: 0,
        tool_cache_preview_chars: 100,
        tool_cache_max_age_days: 1,
        tool_cache_max_bytes: 1000,
      },
      host: { allow: ['/srv'], protect: ['.env'], protect_usual: false },
      mounts: {
        '/a': { backend: 'memory', access: 'write' },
        '/ab': { backend: 'host', directory: 'docs' },
        '/homer': { backend: 'vault', vault: 'base', at: 'start' },
        '/zoned': { backend: 'vault', vault: 'zones' },
      },
    })
  })

  it.each([
    ['[vfs]\nbackend = "x"\n[tools]\ny = 1\nz = 1\n[host]\nallow = 1', [2, 4, 5, 7]],
    ['[mounts."/a"]\nbackend = "memory"\n[mounts."/"]\nbackend = "memory"\n', [3]],
  ])('reports all problems at once, in line order', async (text, lines) => {
    const error = await readConfig(homeWith(text).home).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigError)
    expect(error instanceof ConfigError && error.problems.map(({ line }) => line)).toEqual(lines)
  })
})

describe('the directories of a configuration', () => {
  it('resolve relative to the home, and are refused with their lines if missing', async () => {
    const text =
      '[host]\nallow = [\n"..",\n"../gone"]\n[mounts."/docs"]\nbackend = "host"\ndirectory = "../docs"\n'
    const { home, file } = homeWith(text)
    const beside = join(home, '..')
    const source = await ConfigFile.read(home)
    await expect(assertDirectories(source)).rejects.toThrow(
      `${file}:4: there is no directory ${beside}/gone\n${file}:7: there is no directory ${beside}/docs`,
    )
    writeFileSync(join(beside, 'docs'), 'a file')
    await expect(assertDirectories(source)).rejects.toThrow(`${file}:7: ${beside}/docs is not a directory`)
    rmSync(join(beside, 'docs'))
    mkdirSync(join(beside, 'docs'))
    mkdirSync(join(beside, 'gone'))
    await assertDirectories(source)
    expect(resolveConfigPaths(source)).toEqual({
      host: { allow: [beside, join(beside, 'gone')] },
      mounts: { '/docs': { backend: 'host', directory: join(beside, 'docs') } },
    })
  })
})

describe('a directory to write in', () => {
  it.each(['.', 'vfs', 'vfs/shared', 'store.lmdb', 'tool_cache', 'locks', 'link', 'sessions', 'mine'])(
    'may not be inside the home: %s',
    async (directory) => {
      const { home, file } = homeWith(
        `[mounts."/m"]\nbackend = "host"\ndirectory = "${directory}"\naccess = "write"\n`,
      )
      mkdirSync(join(home, 'vfs/shared'), { recursive: true })
      for (const own of ['store.lmdb', 'tool_cache', 'locks', 'sessions', 'mine']) mkdirSync(join(home, own))
      symlinkSync('vfs', join(home, 'link'))
      const source = await ConfigFile.read(home)
      await expect(assertDirectories(source)).rejects.toThrow(
        `${file}:3: ${join(home, directory)} is inside the home`,
      )
      writeFileSync(file, `[host]\nallow = ["${directory}"]\n`)
      const allowing = await ConfigFile.read(home)
      await expect(assertDirectories(allowing)).rejects.toThrow(`${join(home, directory)} is inside the home`)
    },
  )

  it('may contain the home only if it is read-only', async () => {
    const { home, file } = homeWith('[mounts."/m"]\nbackend = "host"\ndirectory = ".."\naccess = "write"\n')
    const holds = `${file}:3: ${join(home, '..')} contains the home`
    await expect(assertDirectories(await ConfigFile.read(home))).rejects.toThrow(holds)
    writeFileSync(file, readFileSync(file, 'utf8').replace('write', 'read'))
    await assertDirectories(await ConfigFile.read(home))
  })
})

describe('setConfig', () => {
  it('adds a key above the tables, and looks for it only there', async () => {
    const tables = '[mounts."/m"]\nbackend = "vault"\nvault = "other"\n'
    const { home, file } = homeWith(`# mine\n${tables}`)
    await setConfig(home, 'vault', 'base')
    expect(readFileSync(file, 'utf8')).toBe(`# mine\nvault = "base"\n\n${tables}`)
    await setConfig(home, 'vault', 'next')
    expect(readFileSync(file, 'utf8')).toBe(`# mine\nvault = "next"\n\n${tables}`)
    await setConfig(home, 'vault', undefined)
    expect(readFileSync(file, 'utf8')).toBe(`# mine\n\n${tables}`)
  })

  it('changes its key and keeps the rest, including comments', async () => {
    const text = '# my home\r\n  vault = \'old\'   # the one I use\r\n\n# fast\ndurability = "relaxed"'
    const { home, file } = homeWith(text)
    await setConfig(home, 'vault', 'new')
    expect(readFileSync(file, 'utf8')).toBe(text.replace("'old'", '"new"'))
    await setConfig(home, 'engine', 'lmdb')
    expect(readFileSync(file, 'utf8')).toBe(`${text.replace("'old'", '"new"')}\nengine = "lmdb"\n`)
  })

  it('removes a key', async () => {
    const { home, file } = homeWith('# a\nvault = "old" # b\nengine = "sqlite"\n')
    await setConfig(home, 'vault', undefined)
    expect(readFileSync(file, 'utf8')).toBe('# a\nengine = "sqlite"\n')
  })

  it('refuses a line it cannot change, and leaves the file alone', async () => {
    const text = 'vault = """\nold"""\n'
    const { home, file } = homeWith(text)
    await expect(setConfig(home, 'vault', 'new')).rejects.toThrow('by hand')
    expect(readFileSync(file, 'utf8')).toBe(text)
  })
})
