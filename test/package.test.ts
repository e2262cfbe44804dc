import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listBroughtPackages } from './support/brought-packages.ts'
import { root } from './support/run-node.ts'

/** Packages that an installation brings. Each one is trusted, downloaded and kept up to date: lower it, never raise it. */
const MAX_PACKAGES = 24
/** Size of the package itself, in bytes. */
const MAX_SIZE = 9 * 1024 ** 2

interface Manifest {
  readonly exports: Record<string, string | Record<string, string>>
  readonly bin: Record<string, string>
}

describe('the package', () => {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  })
  const [{ files: entries, unpackedSize }] = JSON.parse(packed)
  const files: string[] = entries.map(({ path }: { path: string }) => path)

  it('holds the program, the library, its types and the documents, and nothing else', () => {
    const stray = files.filter(
      (file) => !/^(?:(?:agents|bin|dist|profiles|skills)\/|[A-Z]+(?:\.md)?$|package\.json$)/.test(file),
    )
    expect(stray).toEqual([])
    expect(files.filter((file) => /\.test\.|\.map$/.test(file))).toEqual([])
    expect(unpackedSize).toBeLessThanOrEqual(MAX_SIZE)
  })

  it('holds every file its exports and bin name', () => {
    const targets = [...Object.values(manifest.exports), manifest.bin].flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(omitSource(entry)),
    )
    const missing = targets
      .map((target) => target.replace(/^\.\//, ''))
      .filter((target) => !files.includes(target))
    expect(missing).toEqual([])
    expect(files, 'the page of coppice ui').toContain('dist/web/index.html')
  })

  it('holds every program of a thread or process, beside the command line and beside the library', () => {
    const programs = globSync('src/**/*-{worker,process}.ts', { cwd: root }).map((path) =>
      basename(path, '.ts'),
    )
    // Hooks alone start it, and the library has none.
    const inCommandLine = new Set(['watcher-process'])
    const expected = programs.flatMap((name) => [
      `dist/cli/${name}.js`,
      ...(inCommandLine.has(name) ? [] : [`dist/lib/${name}.js`]),
    ])
    expect(programs).not.toEqual([])
    expect(expected.filter((path) => !files.includes(path))).toEqual([])
  })

  it('has no file of the library that imports a program, which would then run there', () => {
    const library = files.filter((file) => /^dist\/(?!cli\/).*\.js$/.test(file))
    const importing = library.filter((file) =>
      /^(?:import|export)\b.*-(?:worker|process)\.js"/m.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(importing).toEqual([])
  })

  it('can load each part of the command line first, since a command may need any of them first', () => {
    const parts = files.filter((path) => /^dist\/cli\/.+-.{8}\.js$/.test(path))
    const script = `
      for (const path of process.argv.slice(1)) {
        for (const loaded of Object.keys(require.cache)) delete require.cache[loaded]
        require(path)
      }
      process.exit()`
    const absolute = parts.map((path) => join(root, path))
    expect(parts.length).toBeGreaterThan(10)
    expect(spawnSync(process.execPath, ['-e', script, ...absolute], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    })
  })

  it('has code that the oldest Node we support can parse', () => {
    const unknown = files.filter(
      (path) =>
        path.endsWith('.js') &&
        /[{;}]\s*(?:await )?using [\w$]+\s*=/.test(readFileSync(join(root, path), 'utf8')),
    )
    expect(unknown).toEqual([])
  })

  it('brings no more packages than we decided on', () => {
    const brought = listBroughtPackages()
    expect(brought.length, brought.join('\n')).toBeLessThanOrEqual(MAX_PACKAGES)
  })

  it('lists its subpaths one by one, so that nothing else can be imported', () => {
    expect(Object.keys(manifest.exports).filter((subpath) => subpath.includes('*'))).toEqual([])
  })

  it('has a front door of about thirty names', async () => {
    const front = Object.keys(await import(join(root, 'dist/public/index.js')))
    expect(front).toEqual(
      expect.arrayContaining([
        'openHome',
        'agentTools',
        'MemoryFs',
        'HostFs',
        'MountTable',
        'readText',
        'grep',
      ]),
    )
    expect(front.length).toBeLessThanOrEqual(32)
  })

  it('gives the same class from every subpath', async () => {
    const entries = ['index', 'vfs', 'backend'].map((name) => import(join(root, `dist/public/${name}.js`)))
    const [front, vfs, backend] = await Promise.all(entries)
    expect(vfs.MemoryFs).toBe(front.MemoryFs)
    expect(backend.VfsError).toBe(front.VfsError)
  })

  it('loads the store and the tools when they are first used, not with the front door', () => {
    const loaded = listStaticImports('dist/public/index.js')
    expect(loaded).toContain('dist/lib/vfs.js')
    expect(loaded).toContain('node:fs')
    const slow = ['node:crypto', 'node:child_process', 'node:worker_threads', 'node:fs/promises', 'node:net']
    expect(loaded.filter((path) => slow.includes(path))).toEqual([])
    expect(loaded.filter((path) => /\/(?:store|backends-vault|tools)\.js$|^[^.:]*$/.test(path))).toEqual([])
  })

  /** Files, packages and modules of Node that a file of the package loads at once. */
  function listStaticImports(entry: string, found = new Set<string>()): string[] {
    const text = readFileSync(join(root, entry), 'utf8')
    const loads = /^(?:import [^"\n]*|const [^\n]*\.getBuiltinModule\()"([^"]+)"/gm
    for (const [, specifier = ''] of text.matchAll(loads)) {
      const target = specifier.startsWith('.') ? join(dirname(entry), specifier) : specifier
      if (found.has(target)) continue
      found.add(target)
      if (specifier.startsWith('.')) listStaticImports(target, found)
    }
    return [...found]
  }
})

/** Removes the condition that leads to the source, which only a checkout has. */
function omitSource({
  'coppice-source': _source,
  ...conditions
}: Record<string, string>): Record<string, string> {
  return conditions
}
