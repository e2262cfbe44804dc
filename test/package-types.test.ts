import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listBroughtPackages } from './support/brought-packages.ts'
import { root } from './support/run-node.ts'

interface Project {
  readonly packages: readonly string[]
  readonly code: string
  readonly options: readonly string[]
}

describe('the declarations, in a project that checks them all', () => {
  const { exports }: { exports: Record<string, unknown> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const subpaths = Object.keys(exports).filter((subpath) => !subpath.endsWith('.json'))

  it('compile from every subpath without a package that is optional', () => {
    const code = subpaths.map((subpath, index) => `export * as n${index} from 'coppice${subpath.slice(1)}'`)
    const packages = [...listBroughtPackages(), 'node_modules/@types/node', 'node_modules/undici-types']
    expect(compile({ packages, code: code.join('\n'), options: ['--types', 'node'] })).toBe('')
  })

  it('find a call that is wrong', () => {
    const packages = [...listBroughtPackages(), 'node_modules/@types/node', 'node_modules/undici-types']
    const code = "import { openHome } from 'coppice'\nopenHome({ path: 3 })\n"
    expect(compile({ packages, code, options: ['--types', 'node'] })).toContain('TS2322')
  })

  it('of coppice/vfs compile for a browser, without those of Node', () => {
    const code = `
      import { MemoryFs, OverlayFs, readText } from 'coppice/vfs'
      export const text: Promise<string> = readText(new OverlayFs(new MemoryFs({ '/a': 'b' })), '/a')`
    expect(compile({ packages: [], code, options: ['--types', '', '--lib', 'es2022,dom'] })).toBe('')
  })
})

/** Returns what the compiler says of a program that has Coppice and some packages installed. */
function compile({ packages, code, options }: Project): string {
  const project = mkdtempSync(join(tmpdir(), 'coppice-types-'))
  onTestFinished(() => rmSync(project, { recursive: true, force: true }))
  const installed = join(project, 'node_modules/coppice')
  mkdirSync(installed, { recursive: true })
  cpSync(join(root, 'package.json'), join(installed, 'package.json'))
  symlinkSync(join(root, 'dist'), join(installed, 'dist'))
  for (const path of packages) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    symlinkSync(join(root, path), join(project, path))
  }
  writeFileSync(join(project, 'program.ts'), code)
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/typescript/bin/tsc'),
      ...['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', 'false', '--preserveSymlinks'],
      ...['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'],
      ...options,
      'program.ts',
    ],
    { cwd: project, encoding: 'utf8' },
  )
  expect(status, 'the compiler ran').not.toBeNull()
  return stdout
}
