import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './support/run-node.ts'

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
  const files: string[] = JSON.parse(packed)[0].files.map(({ path }: { path: string }) => path)

  it('holds the program, its types, its source and the documents, and nothing else', () => {
    const stray = files.filter(
      (file) => !/^(?:(?:agents|bin|dist|skills|src)\/|[A-Z]+(?:\.md)?$|package\.json$)/.test(file),
    )
    expect(stray).toEqual([])
    expect(files.filter((file) => file.includes('.test.'))).toEqual([])
  })

  it('holds every file its exports and bin name', () => {
    const targets = [...Object.values(manifest.exports), manifest.bin].flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    )
    const missing = targets
      .map((target) => target.replace(/^\.\//, ''))
      .filter((target) => !files.includes(target))
    expect(missing).toEqual([])
  })

  it('holds every program of a thread or process, beside the command line and beside the library', () => {
    const programs = globSync('src/**/*-{worker,process}.ts', { cwd: root }).map((path) =>
      basename(path, '.ts'),
    )
    const expected = programs.flatMap((name) => [`dist/cli/${name}.js`, `dist/lib/${name}.js`])
    expect(programs).not.toEqual([])
    expect(expected.filter((path) => !files.includes(path))).toEqual([])
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
    const slow = ['node:crypto', 'node:child_process', 'node:worker_threads', 'node:fs/promises']
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
