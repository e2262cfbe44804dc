import {
  chmodSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isErrno, readFileIfPresent } from '../machine/index.ts'
import { VfsError } from '../vfs/index.ts'
import { addHooks, findHookCommands, type HookCommands, removeHooks } from './hook-entries.ts'
import type { ConfigTable, HookProgram } from './hook-program.ts'

const BACKUP_SUFFIX = '.before-coppice'
const PERMISSION_BITS = 0o777

/** The configuration file of a program, with the hooks of Coppice or without. */
export class HookFile {
  readonly path: string
  readonly #program: HookProgram

  constructor(path: string, program: HookProgram) {
    this.path = path
    this.#program = program
  }

  /** The copy of the file as it was before the installation. */
  get backup(): string {
    return this.path + BACKUP_SUFFIX
  }

  /** Returns the installed commands; undefined if there are none. Throws EINVAL if the file is not JSON. */
  findCommands(): HookCommands | undefined {
    return findHookCommands(this.#parse(readFileIfPresent(this.path)))
  }

  /**
   * Adds the hooks, and keeps a copy of the file as it was. Returns false if it has these hooks already. Throws EINVAL
   * if the file is not JSON.
   */
  install(commands: HookCommands): boolean {
    const text = readFileIfPresent(this.path)
    const config = this.#parse(text)
    const changed = addHooks(config, this.#program, commands)
    if (isDeepStrictEqual(config, changed)) return false
    if (findHookCommands(config) === undefined) {
      if (text === undefined) rmSync(this.backup, { force: true })
      else this.#write(this.backup, text)
    }
    this.#write(this.path, formatConfig(changed, text))
    return true
  }

  /**
   * Removes the hooks and nothing else. If nothing else changed since the installation, the file is again as it was, to
   * the byte; one that the installation created is deleted, with its directory if that is empty. Returns false if it has none of these hooks. Throws EINVAL
   * if the file is not JSON.
   */
  remove(): boolean {
    const text = readFileIfPresent(this.path)
    const config = this.#parse(text)
    if (findHookCommands(config) === undefined) return false
    const before = readFileIfPresent(this.backup)
    const changed = removeHooks(config, this.#parse(before))
    const { base } = this.#program
    if (
      before !== undefined &&
      isDeepStrictEqual({ ...base, ...this.#parse(before) }, { ...base, ...changed })
    ) {
      this.#write(this.path, before)
      rmSync(this.backup)
    } else if (before === undefined && isDeepStrictEqual(changed, base)) this.#delete()
    else this.#write(this.path, formatConfig(changed, text))
    return true
  }

  #delete(): void {
    rmSync(this.path)
    const directory = dirname(this.path)
    // One that a variable names is the user's.
    if (!basename(directory).startsWith('.')) return
    try {
      rmdirSync(directory)
    } catch (error) {
      if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EACCES', 'EPERM', 'EBUSY')) throw error
    }
  }

  #parse(text: string | undefined): ConfigTable {
    if (text === undefined || text.trim() === '') return {}
    try {
      const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
    } catch {
      // Comments, or not JSON at all.
    }
    const detail = `cannot change ${this.path}: it is not plain JSON; remove comments from it and run again`
    throw new VfsError('EINVAL', this.path, { op: 'hooks', detail })
  }

  /** Replaces a file at once, with the permissions of the configuration file. A link to it stays. */
  #write(path: string, text: string): void {
    const target = findTarget(path)
    mkdirSync(dirname(target), { recursive: true })
    const mode = statSync(findTarget(this.path), { throwIfNoEntry: false })?.mode ?? 0o600
    const fresh = `${target}.coppice-${process.pid}`
    writeFileSync(fresh, text)
    chmodSync(fresh, mode & PERMISSION_BITS)
    renameSync(fresh, target)
  }
}

/** Formats a configuration with the indentation of the earlier text. */
function formatConfig(config: ConfigTable, earlier: string | undefined): string {
  const [, indent = '  '] = /^[[{]\s*?\n([ \t]+)/.exec(earlier ?? '') ?? []
  return `${JSON.stringify(config, undefined, indent)}\n`
}

/** Returns the file that a path or a link leads to. */
function findTarget(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return path
    throw error
  }
}
