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
import type { Directory } from '../../machine/index.ts'
import { HostFailure } from './host-failure.ts'
import { isErrno, statsAt } from './host-stats.ts'
import type { HostTree } from './host-tree.ts'
import type { Step } from './step.ts'

const PRIVATE_DIRECTORY = 0o700
const OTHERS = 0o077
const PLAN_FILE = 'plan.json'
const { O_RDONLY } = constants

/**
 * A directory in a linked directory that holds what an apply brings (`new`) and what it takes away (`old`), with the plan
 * of its steps: on the same disk, so that names can change hands. Only this user can look into it or change it, and it
 * is used by descriptor: who may rename it gains nothing by that.
 */
export class Stage implements Disposable {
  readonly #tree: HostTree
  readonly #name: string
  readonly #directory: Directory
  readonly fresh: Directory
  readonly old: Directory

  private constructor(tree: HostTree, name: string, directory: Directory) {
    this.#tree = tree
    this.#name = name
    this.#directory = directory
    this.fresh = directory.enter('new')
    this.old = directory.enter('old')
  }

  static make(tree: HostTree, name: string): Stage {
    mkdirSync(tree.root.at(name), PRIVATE_DIRECTORY)
    const directory = openOwn(tree, name)
    for (const part of ['new', 'old']) mkdirSync(directory.at(part), PRIVATE_DIRECTORY)
    return new Stage(tree, name, directory)
  }

  /** One that an apply left; undefined if there is none any more, or nothing has been put into it yet. EACCES. */
  static open(tree: HostTree, name: string): Stage | undefined {
    if (statsAt(tree.root.at(name)) === undefined) return undefined
    const directory = openOwn(tree, name)
    try {
      return new Stage(tree, name, directory)
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error
      empty(directory)
      directory.close()
      removeName(tree, name)
      return undefined
    }
  }

  /** Its own directory, as a path for system calls. */
  get place(): string {
    return this.#directory.at('.')
  }

  /** From here on whoever finds the stage knows how to take everything back. */
  writePlan(steps: readonly Step[]): void {
    const path = this.#directory.at(PLAN_FILE)
    writeFileSync(`${path}.new`, JSON.stringify(steps))
    const written = this.#directory.open(`${PLAN_FILE}.new`, O_RDONLY)
    fsyncSync(written.fd)
    written.close()
    renameSync(`${path}.new`, path)
  }

  /** Undefined if nothing had been changed yet. */
  readPlan(): readonly Step[] | undefined {
    try {
      const steps: readonly Step[] = JSON.parse(readFileSync(this.#directory.at(PLAN_FILE), 'utf8'))
      return steps
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Removes it with all it holds. */
  discard(): void {
    empty(this.#directory)
    this[Symbol.dispose]()
    removeName(this.#tree, this.#name)
  }

  [Symbol.dispose](): void {
    for (const directory of [this.fresh, this.old, this.#directory]) directory.close()
  }
}

/** Opens a directory that belongs to this user and that nobody else may enter. EACCES for anything else. */
function openOwn(tree: HostTree, name: string): Directory {
  const directory = tree.root.enter(name)
  const { uid, mode } = lstatSync(directory.at('.'))
  if (uid === (process.geteuid?.() ?? uid) && (mode & OTHERS) === 0) return directory
  directory.close()
  const path = `${tree.path}/${name}`
  throw new HostFailure('EACCES', path, `EACCES: it is not a directory of this user alone, open '${path}'`)
}

/** The plan goes first: who comes upon the rest would take back by it what is in its place already. */
function empty(directory: Directory): void {
  rmSync(directory.at(PLAN_FILE), { force: true })
  for (const name of readdirSync(directory.at('.')))
    rmSync(directory.at(name), { recursive: true, force: true })
}

function removeName(tree: HostTree, name: string): void {
  try {
    rmdirSync(tree.root.at(name))
  } catch (error) {
    // Somebody renamed it, and has an empty directory.
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST')) throw error
  }
}
