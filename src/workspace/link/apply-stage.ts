import {
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import type { DirectoryHandle } from '../../machine/index.ts'
import { isErrno } from '../../machine/index.ts'
import type { ApplyStep } from './apply-step.ts'
import { withOpenRoot } from './closed-directories.ts'
import { HostPathError } from './host-path-error.ts'
import { findStats } from './host-stats.ts'
import type { HostTree } from './host-tree.ts'
import { removeReplacedFiles } from './replaced-files.ts'

const PRIVATE_DIRECTORY_MODE = 0o700
const OTHERS_BITS = 0o077
const PLAN_FILE = 'plan.json'
const { O_RDONLY } = constants

/**
 * A temporary directory inside a linked directory. It holds the new entries of an apply (`new`), the old ones (`old`)
 * and the plan of its steps. It is on the same disk, so that entries can be renamed. Only this user can read or
 * change it. It is accessed by descriptor, so renaming it gains nothing.
 */
export class ApplyStage implements Disposable {
  readonly #tree: HostTree
  readonly #name: string
  readonly #directory: DirectoryHandle
  /** The directory `new`. */
  readonly fresh: DirectoryHandle
  /** The directory `old`. */
  readonly old: DirectoryHandle
  /** Files of which `old` has a second name before they are replaced: inode numbers by index. */
  readonly backups: Map<number, number> = new Map()

  private constructor(tree: HostTree, name: string, directory: DirectoryHandle) {
    this.#tree = tree
    this.#name = name
    this.#directory = directory
    this.fresh = directory.enter('new')
    this.old = directory.enter('old')
  }

  static create(tree: HostTree, name: string): ApplyStage {
    withOpenRoot(tree, () => mkdirSync(tree.root.at(name), PRIVATE_DIRECTORY_MODE))
    const directory = openOwnDirectory(tree, name)
    for (const part of ['new', 'old']) mkdirSync(directory.at(part), PRIVATE_DIRECTORY_MODE)
    return new ApplyStage(tree, name, directory)
  }

  /**
   * Opens the stage that an earlier apply left; undefined if it is missing. Removes one that was not fully created, and
   * returns undefined too. Throws EACCES if others may enter it.
   */
  static open(tree: HostTree, name: string): ApplyStage | undefined {
    if (findStats(tree.root.at(name)) === undefined) return undefined
    const directory = openOwnDirectory(tree, name)
    try {
      return new ApplyStage(tree, name, directory)
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error
      removePlan(directory)
      emptyDirectory(directory)
      directory.close()
      removeStageDirectory(tree, name)
      return undefined
    }
  }

  /** The stage's own directory, as a path for system calls. */
  get path(): string {
    return this.#directory.at('.')
  }

  /** Writes the plan. From then on another process can revert the apply. */
  writePlan(steps: readonly ApplyStep[]): void {
    const path = this.#directory.at(PLAN_FILE)
    writeFileSync(`${path}.new`, JSON.stringify(steps))
    const written = this.#directory.open(`${PLAN_FILE}.new`, O_RDONLY)
    fsyncSync(written.fd)
    written.close()
    renameSync(`${path}.new`, path)
  }

  /** Returns the plan; undefined if nothing had changed yet. */
  readPlan(): readonly ApplyStep[] | undefined {
    try {
      const steps: readonly ApplyStep[] = JSON.parse(readFileSync(this.#directory.at(PLAN_FILE), 'utf8'))
      return steps
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /**
   * Removes the stage and its content.
   * @param home takes replaced files whose removal would take long.
   */
  discard(home?: string): void {
    try {
      removePlan(this.#directory)
      if (home !== undefined) removeReplacedFiles(home, this.#directory.at('old'))
      emptyDirectory(this.#directory)
    } finally {
      this[Symbol.dispose]()
    }
    removeStageDirectory(this.#tree, this.#name)
  }

  [Symbol.dispose](): void {
    for (const directory of [this.fresh, this.old, this.#directory]) directory.close()
  }
}

/** Opens a directory. Throws EACCES unless it belongs to this user, and only this user may enter it. */
function openOwnDirectory(tree: HostTree, name: string): DirectoryHandle {
  const directory = tree.root.enter(name)
  const { uid, mode } = lstatSync(directory.at('.'))
  if (uid === (process.geteuid?.() ?? uid) && (mode & OTHERS_BITS) === 0) return directory
  directory.close()
  const path = `${tree.path}/${name}`
  throw new HostPathError('EACCES', path, `EACCES: the directory is not private to this user, open '${path}'`)
}

/** Removes the plan, before any entry: with a plan, another process would revert entries that are already in place. */
function removePlan(directory: DirectoryHandle): void {
  rmSync(directory.at(PLAN_FILE), { force: true })
}

function emptyDirectory(directory: DirectoryHandle): void {
  for (const name of readdirSync(directory.at('.')))
    rmSync(directory.at(name), { recursive: true, force: true })
}

function removeStageDirectory(tree: HostTree, name: string): void {
  try {
    withOpenRoot(tree, () => rmdirSync(tree.root.at(name)))
  } catch (error) {
    // Another process renamed it and keeps an empty directory.
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST')) throw error
  }
}
