import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../harness/benchmark.ts'
import { makeOnce } from './directories.ts'

/** Files that an apply writes: one half replaces others, one half is new. */
export const APPLIED_FILES = 2000
/** Files that both sides of a merge change, in different lines. */
export const MERGED_FILES = 100
/** Times of `cp -a` that an apply may take, beside the start of the command. */
export const APPLY_FACTOR = 2
/** Seconds that a merge may take, beside the start of Node. */
export const MERGE_SECONDS = 0.15

/** Passes of a round; the fastest counts. */
export const APPLY_PASSES = 4
const FILES_TOGETHER = 50
const LINES = Array.from({ length: 100 }, (_, line) => `line ${line}\n`)

/** The shell command that changes the files of a project. */
export const CHANGE_FILES = `for d in d*; do for f in $d/f*; do echo changed >> $f; cp $f $d/new-\${f##*/f}; done; done`
/** The shell command that changes a line near the end of each file. */
export const CHANGE_LINES = `sed -i 's/^line 90$/theirs/' f*`

/** Creates the project of an apply: half of the files that it will write. */
export function createAppliedProject(path: string): void {
  for (let file = 0; file < APPLIED_FILES / 2; file++) {
    const parent = join(path, `d${Math.floor(file / FILES_TOGETHER)}`)
    mkdirSync(parent, { recursive: true })
    writeFileSync(join(parent, `f${file}`), LINES.join(''))
  }
}

/** Creates the project of a merge. */
export function createMergedProject(path: string): void {
  mkdirSync(path, { recursive: true })
  for (let file = 0; file < MERGED_FILES; file++) writeFileSync(join(path, `f${file}`), LINES.join(''))
}

/** Changes a line near the beginning of each file. */
export function changeFirstLines(path: string): void {
  for (const name of readdirSync(path)) {
    const text = readFileSync(join(path, name), 'utf8')
    writeFileSync(join(path, name), text.replace('line 10\n', 'ours\n'))
  }
}

/** Returns a directory with exactly the files that an apply writes, to copy them. */
export function getAppliedFiles({ directory }: Settings): string {
  const path = join(directory, 'applied-files')
  return makeOnce(path, () => {
    createAppliedProject(path)
    execFileSync('bash', ['-c', CHANGE_FILES], { cwd: path })
  })
}
