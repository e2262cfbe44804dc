import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../harness/benchmark.ts'
import { makeOnce } from './directories.ts'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const PACKAGES = 120
const SOURCES = 150
const TRACKED = 10_000
const QUICK = 20

/** Creates the projects that programs work on, once for each subject. */
export function prepareProjects(subject: string, settings: Settings): string {
  const scale = settings.isQuick ? QUICK : 1
  const origin = makeOnce(join(settings.directory, 'projects'), () => {
    const at = join(settings.directory, 'projects')
    makePackage(join(at, 'package'), Math.ceil(PACKAGES / scale))
    makeSources(join(at, 'sources'), Math.ceil(SOURCES / scale))
    makeRepository(join(at, 'repository'), Math.ceil(TRACKED / scale))
  })
  const own = join(settings.directory, `projects-${subject}`)
  return makeOnce(own, () => execFileSync('cp', ['-a', `${origin}/.`, own]))
}

/** Packages of this repository without what they depend on, as archives: so npm needs no registry. */
function makePackage(directory: string, count: number): void {
  const scratch = join(directory, '.scratch')
  mkdirSync(join(directory, 'archives'), { recursive: true })
  const names = readdirSync(MODULES).filter((name) => /^[a-z]/.test(name) && isSmall(name))
  const dependencies: Record<string, string> = {}
  for (const name of names.slice(0, count)) {
    const copy = join(scratch, name, 'package')
    cpSync(join(MODULES, name), copy, { recursive: true, dereference: true })
    const { version }: { version: string } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'))
    writeFileSync(join(copy, 'package.json'), JSON.stringify({ name, version }))
    execFileSync('tar', [
      'czf',
      join(directory, 'archives', `${name}.tgz`),
      '-C',
      join(scratch, name),
      'package',
    ])
    dependencies[name] = `file:archives/${name}.tgz`
  }
  execFileSync('rm', ['-rf', scratch])
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ name: 'bench', version: '1.0.0', dependencies }),
  )
  const words = ['install', '--package-lock-only', '--offline', '--no-audit', '--cache', './.cache']
  execFileSync('npm', words, { cwd: directory, stdio: 'ignore' })
}

/** Large packages are one file to unpack, which says nothing about a file system. */
function isSmall(name: string): boolean {
  const path = join(MODULES, name)
  return statSync(join(path, 'package.json'), { throwIfNoEntry: false }) !== undefined && !LARGE.has(name)
}

const LARGE: ReadonlySet<string> = new Set([
  'node',
  'typescript',
  'lmdb',
  'classic-level',
  'knip',
  'rolldown',
])

function makeSources(directory: string, count: number): void {
  mkdirSync(directory, { recursive: true })
  const names = Array.from({ length: count }, (_, index) => `part${index}`)
  for (const [index, name] of names.entries()) {
    const functions = Array.from(
      { length: 30 },
      (_, each) =>
        `int ${name}_${each}(int n) { int s = ${index}; while (n-- > 0) s += n * ${each}; return s; }`,
    )
    writeFileSync(
      join(directory, `${name}.c`),
      `#include <stdio.h>\n#include <stdlib.h>\n${functions.join('\n')}\n`,
    )
  }
  writeFileSync(join(directory, 'main.c'), 'int main(void) { return 0; }\n')
  const objects = [...names, 'main'].map((name) => `${name}.o`).join(' ')
  writeFileSync(
    join(directory, 'Makefile'),
    `program: ${objects}\n\tcc -o $@ $^\n%.o: %.c\n\tcc -O1 -c -o $@ $<\nclean:\n\trm -f program *.o\n`,
  )
}

function makeRepository(directory: string, count: number): void {
  const perDirectory = 100
  for (let file = 0; file < count; file++) {
    const parent = join(directory, `d${Math.floor(file / perDirectory)}`)
    if (file % perDirectory === 0) mkdirSync(parent, { recursive: true })
    writeFileSync(join(parent, `f${file}.txt`), `line of file ${file}\n`.repeat(40))
  }
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: directory, stdio: 'ignore' })
  git('init', '-q', '.')
  // So many objects would be packed in the background, while others look at them.
  git('config', 'gc.auto', '0')
  git('add', '.')
  git('-c', 'user.name=b', '-c', 'user.email=b@example.com', 'commit', '-q', '-m', 'all')
}
