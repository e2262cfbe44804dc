import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../harness/benchmark.ts'
import { makeOnce } from './directories.ts'

/** Files of the tree that is imported and checked out. */
export const IMPORTED_FILES = 20_000
/** Times of `git add -A` by which an import is faster. */
export const IMPORT_FACTOR = 1.5
/** Times of the bytes that a home may take. */
export const HOME_FACTOR = 1.3
/** Times of its size that a home with an index may take. */
export const INDEX_FACTOR = 1.2
/** Passes of a round; the fastest counts. */
export const IMPORT_PASSES = 3

/** Small texts, of which git has little to compress. */
export const SMALL_TEXTS = 57_000

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const TEXT = /\.(?:js|cjs|mjs|ts|mts|cts|json|md|map)$/
const MAX_BYTES = 200_000
const SMALL_BYTES = 5500
const QUICK = 20

/** Returns a directory with texts of packages: sizes and likeness as projects have them. */
export function getImportedFiles({ directory, isQuick }: Settings): string {
  const path = join(directory, 'imported-files')
  return makeOnce(path, () => {
    let left = isQuick ? IMPORTED_FILES / QUICK : IMPORTED_FILES
    for (const file of walkTexts(MODULES)) {
      if (left-- === 0) return
      const copy = join(path, relative(MODULES, file))
      mkdirSync(dirname(copy), { recursive: true })
      copyFileSync(file, copy)
    }
    if (left > 0) throw new Error(`node_modules lacks ${left} texts`)
  })
}

/** Returns a directory with the beginnings of such texts. Those that occur again begin with a number. */
export function getSmallTexts({ directory, isQuick }: Settings): string {
  const path = join(directory, 'small-texts')
  return makeOnce(path, () => {
    const texts = [...walkTexts(MODULES)]
    const count = isQuick ? SMALL_TEXTS / QUICK : SMALL_TEXTS
    for (let index = 0; index < count; index++) {
      const text = texts[index % texts.length] ?? ''
      const round = Math.floor(index / texts.length)
      const copy = join(path, `copy-${round}`, relative(MODULES, text))
      mkdirSync(dirname(copy), { recursive: true })
      writeFileSync(copy, `${round}\n${readFileSync(text, 'utf8').slice(0, SMALL_BYTES)}`)
    }
  })
}

/** Returns the bytes of the files below a directory. */
export function countBytes(directory: string): number {
  return Number(execFileSync('du', ['-sb', directory], { encoding: 'utf8' }).split('\t')[0])
}

function* walkTexts(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* walkTexts(path)
    else if (entry.isFile() && TEXT.test(entry.name) && statSync(path).size <= MAX_BYTES) yield path
  }
}
