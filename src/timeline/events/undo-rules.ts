import { readFileSync } from 'node:fs'
import { IgnoreRules } from '../../backends/vault/index.ts'
import { isErrno } from '../../machine/index.ts'
import { isReservedPath } from '../../workspace/link/index.ts'
import type { ScanRules } from './scan-directory.ts'

/** Names of directories that programs can make again. */
const USUAL_EXCLUDES: readonly string[] = [
  'node_modules/',
  '.venv/',
  'venv/',
  '__pycache__/',
  '.tox/',
  '.mypy_cache/',
  '.pytest_cache/',
  '.ruff_cache/',
  'target/',
  'dist/',
  'build/',
  'out/',
  '.next/',
  '.nuxt/',
  '.svelte-kit/',
  '.turbo/',
  '.parcel-cache/',
  '.cache/',
  '.gradle/',
  'coverage/',
]
const USUAL_IGNORED_BYTES = 1024 * 1024
/** A larger file would take a hook too long. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/** Objects of Git are only ever added, so an undo leaves them. Lock files belong to a running Git. */
const GIT_OBJECTS = /\/\.git\/(?:.*\/)?(?:objects|lfs|annex)$/
const GIT_LOCK = /\/\.git\/.*\.lock$/

/** Settings of `[undo]`. */
export interface UndoSettings {
  /** Patterns as in `.gitignore`, instead of the usual ones. */
  readonly exclude?: readonly string[]
  /** Size up to which ignored files are recorded. */
  readonly max_ignored_bytes?: number
  /** False to start no watcher. */
  readonly watch?: boolean
}

/**
 * Decides what is recorded of a directory. In a Git repository, `exclude` applies to ignored paths only: a `dist` that
 * is committed is no build output.
 */
export class UndoRules implements ScanRules {
  readonly #root: string
  readonly #hidden: readonly string[]
  readonly #patterns: readonly string[]
  /** Created on use: most scans list no directory again. */
  #excludes: IgnoreRules | undefined
  readonly #ignoredBytes: number
  readonly #rules = new Map<string, IgnoreRules>()
  #isRepository: boolean | undefined

  /** @param hidden absolute paths that are never recorded. */
  constructor(root: string, settings: UndoSettings, hidden: readonly string[]) {
    this.#root = root
    this.#hidden = hidden
    this.#patterns = settings.exclude ?? USUAL_EXCLUDES
    this.#ignoredBytes = settings.max_ignored_bytes ?? USUAL_IGNORED_BYTES
  }

  isExcluded(path: string, isDirectory: boolean): boolean {
    if (isReservedPath(path) || this.#hidden.includes(this.#root + path)) return true
    if (isDirectory ? GIT_OBJECTS.test(path) : GIT_LOCK.test(path)) return true
    this.#excludes ??= new IgnoreRules(this.#patterns)
    if (!this.#excludes.ignores(toIgnorePath(path, isDirectory)) || path.startsWith('/.git/')) return false
    return !this.#hasRepository() || this.#isIgnored(path, isDirectory)
  }

  /** Reports whether a file is too large to be recorded. */
  isTooLarge(path: string, size: number): boolean {
    if (size > MAX_FILE_BYTES) return true
    return size > this.#ignoredBytes && this.#hasRepository() && this.#isIgnored(path, false)
  }

  #hasRepository(): boolean {
    this.#isRepository ??= this.#read('/.git/HEAD') !== undefined || this.#read('/.git') !== undefined
    return this.#isRepository
  }

  #isIgnored(path: string, isDirectory: boolean): boolean {
    return this.#getRules(path.slice(0, path.lastIndexOf('/'))).ignores(toIgnorePath(path, isDirectory))
  }

  /** Returns the rules of all `.gitignore` files that apply in a directory. */
  #getRules(directory: string): IgnoreRules {
    const known = this.#rules.get(directory)
    if (known !== undefined) return known
    const above =
      directory === ''
        ? new IgnoreRules().within('', this.#read('/.git/info/exclude') ?? '')
        : this.#getRules(directory.slice(0, directory.lastIndexOf('/')))
    const text = this.#read(`${directory}/.gitignore`)
    const rules = text === undefined ? above : above.within(directory.slice(1), text)
    this.#rules.set(directory, rules)
    return rules
  }

  /** Returns the text of a file; undefined if there is none. */
  #read(path: string): string | undefined {
    try {
      return readFileSync(this.#root + path, 'utf8')
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'ELOOP')) return undefined
      throw error
    }
  }
}

function toIgnorePath(path: string, isDirectory: boolean): string {
  return `${path.slice(1)}${isDirectory ? '/' : ''}`
}

/** Returns a text that differs for different settings. An index holds for one of them only. */
export function toSettingsKey({ exclude, max_ignored_bytes }: UndoSettings): string {
  return JSON.stringify([exclude ?? USUAL_EXCLUDES, max_ignored_bytes ?? USUAL_IGNORED_BYTES])
}
