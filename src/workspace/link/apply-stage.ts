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
import { HostPathError } from './host-path-error.ts'
import { findStats } from './host-stats.ts'
import type { HostTree } from './host-tree.ts'

const PRIVATE_DIRECTORY_MODE = 0o700
const OTHERS_BITS = 0o077
const PLAN_FILE = 'plan.json'
const { O_RDONLY } = constants

/**
 * A directory in a linked directory that holds what an apply brings (`new`) and what it takes away (`old`), with the plan
 * of its steps: on the same disk, so that names can change hands. Only this user can look into it or change it, and it
 * is used by descriptor: who may rename it gains nothing by that.
 */
export class ApplyStage implements Disposable {
  readonly #tree: HostTree
  readonly #name: string
  readonly #directory: DirectoryHandle
  readonly fresh: DirectoryHandle
  readonly old: DirectoryHandle

  private constructor(tree: HostTree, name: string, directory: DirectoryHandle) {
    this.#tree = tree
    this.#name = name
    this.#directory = directory
    this.fresh = directory.enter('new')
    this.old = directory.enter('old')
  }

  static create(tree: HostTree, name: string): ApplyStage {
    mkdirSync(tree.root.at(name), PRIVATE_DIRECTORY_MODE)
    const directory = openOwnDirectory(tree, name)
    for (const part of ['new', 'old']) mkdirSync(directory.at(part), PRIVATE_DIRECTORY_MODE)
    return new ApplyStage(tree, name, directory)
  }

  /** One that an apply left; undefined if there is none any more, or nothing has been put into it yet. EACCES. */
  static open(tree: HostTree, name: string): ApplyStage | undefined {
    if (findStats(tree.root.at(name)) === undefined) return undefined
    const directory = openOwnDirectory(tree, name)
    try {
      return new ApplyStage(tree, name, directory)
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error
      emptyDirectory(directory)
      directory.close()
      removeStageDirectory(tree, name)
      return undefined
    }
  }

  /** Its own directory, as a path for system calls. */
  get path(): string {
    return this.#directory.at('.')
  }

  /** From here on whoever finds the stage knows how to take everything back. */
  writePlan(steps: readonly ApplyStep[]): void {
    const path = this.#directory.at(PLAN_FILE)
    writeFileSync(`${path}.new`, JSON.stringify(steps))
    const written = this.#directory.open(`${PLAN_FILE}.new`, O_RDONLY)
    fsyncSync(written.fd)
    written.close()
    renameSync(`${path}.new`, path)
  }

  /** Undefined if nothing had been changed yet. */
  readPlan(): readonly ApplyStep[] | undefined {
    try {
      const steps: readonly ApplyStep[] = JSON.parse(readFileSync(this.#directory.at(PLAN_FILE), 'utf8'))
      return steps
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Removes it with all it holds. */
  discard(): void {
    emptyDirectory(this.#directory)
    this[Symbol.dispose]()
    removeStageDirectory(this.#tree, this.#name)
  }

  [Symbol.dispose](): void {
    for (const directory of [this.fresh, this.old, this.#directory]) directory.close()
  }
}

/** Opens a directory that belongs to this user and that nobody else may enter. EACCES for anything else. */
function openOwnDirectory(tree: HostTree, name: string): DirectoryHandle {
  const directory = tree.root.enter(name)
  const { uid, mode } = lstatSync(directory.at('.'))
  if (uid === (process.geteuid?.() ?? uid) && (mode & OTHERS_BITS) === 0) return directory
  directory.close()
  const path = `${tree.path}/${name}`
  throw new HostPathError('EACCES', path, `EACCES: it is not a directory of this user alone, open '${path}'`)
}

/** The plan goes first: who comes upon the rest would take back by it what is in its place already. */
function emptyDirectory(directory: DirectoryHandle): void {
  rmSync(directory.at(PLAN_FILE), { force: true })
  for (const name of readdirSync(directory.at('.')))
    rmSync(directory.at(name), { recursive: true, force: true })
}

function removeStageDirectory(tree: HostTree, name: string): void {
  try {
    rmdirSync(tree.root.at(name))
  } catch (error) {
    // Somebody renamed it, and has an empty directory.
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST')) throw error
  }
}
