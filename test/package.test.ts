import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
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
      .filter((target) => !files.some((file) => matchesGlob(file, target)))
    expect(missing).toEqual([])
  })

  it('holds, beside the command line, every program that is found by its place', () => {
    const sources = globSync('src/**/*.ts', { cwd: root }).map((path) =>
      readFileSync(join(root, path), 'utf8'),
    )
    const beside = sources
      .filter((text) => text.includes('import.meta.url.endsWith'))
      .flatMap((text) => [...text.matchAll(/'\.\/([\w-]+\.js)'/g)].map(([, name]) => `dist/cli/${name}`))
    expect(beside).not.toEqual([])
    expect(beside.filter((path) => !files.includes(path))).toEqual([])
  })

  it('exports the names each entry promises', async () => {
    const [all, vfs, conformance] = await Promise.all([
      import(join(root, 'dist/index.js')),
      import(join(root, 'dist/vfs/index.js')),
      import(join(root, 'dist/conformance/index.js')),
    ])
    expect(Object.keys(all)).toEqual(expect.arrayContaining([...Object.keys(vfs), 'HostFs']))
    expect(Object.keys(vfs)).toEqual(
      expect.arrayContaining(['MemoryFs', 'MountTable', 'OverlayFs', 'ReadOnlyFs', 'strict']),
    )
    expect(Object.keys(conformance)).toEqual(['fileSystemSuite'])
  })
})
