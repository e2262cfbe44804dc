import { mkdirSync } from 'node:fs'
import { isErrno, removeAbandonedFiles } from '../../../machine/index.ts'
import { DirectoryStack, type HostDirectory, openHostDirectory } from './host-directory.ts'
import { HostFault, hostError } from './host-fault.ts'

const PRIVATE_MODE = 0o700

/** Where on the machine an export stands: the directory, and its name for messages. */
export class HostCursor {
  readonly #root: string
  readonly #names: string[] = []
  readonly #directories: DirectoryStack

  /** Makes the directory if it is missing. */
  constructor(root: string) {
    this.#root = root
    this.#directories = this.run('', () => {
      mkdirSync(root, { recursive: true })
      return new DirectoryStack(openHostDirectory(root))
    })
  }

  get current(): HostDirectory {
    return this.#directories.here
  }

  /** Into a directory that is there. False if there is nothing; EEXIST for anything else, links included. */
  enter(name: string): boolean {
    return this.run(name, () => {
      try {
        this.#directories.down(this.current.enter(checkName(name)))
      } catch (error) {
        if (isErrno(error, 'ENOENT')) return false
        if (!isErrno(error, 'ENOTDIR', 'ELOOP') && !(error instanceof HostFault)) throw error
        throw new HostFault('EEXIST', 'there is something else where a directory should be')
      }
      this.#names.push(name)
      return true
    })
  }

  /** Into a directory, made if need be: for us alone until it has its permissions. */
  enterOrCreate(name: string): void {
    if (this.enter(name)) {
      this.removeLeftovers()
      return
    }
    this.run(name, () => mkdirSync(this.current.at(checkName(name)), PRIVATE_MODE))
    if (!this.enter(name)) this.run(name, () => throwRemoved())
  }

  /** Removes what exports into this directory left that were killed. */
  removeLeftovers(): void {
    this.run('', () => removeAbandonedFiles(this.current.self()))
  }

  leave(): void {
    this.run('', () => this.#directories.up())
    this.#names.pop()
  }

  /** Runs a step on a name of this directory; its errors name the path on the machine. */
  run<T>(name: string, step: () => T): T {
    try {
      return step()
    } catch (error) {
      throw this.toHostError(error, name)
    }
  }

  toHostError(error: unknown, name: string): unknown {
    return hostError(error, this.getPath(name), 'export')
  }

  /** The path of the machine a name of this directory has, for people. */
  getPath(name: string): string {
    return [this.#root, ...this.#names, name].filter((part) => part !== '').join('/')
  }

  close(): void {
    this.#directories.close()
  }
}

/** A damaged or foreign tree may hold any name: none leads a call to another directory than the one it is in. */
export function checkName(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0')) return name
  throw new HostFault('EINVAL', 'no file of this machine can have the name')
}

function throwRemoved(): never {
  throw new HostFault('ECONFLICT', 'it was removed meanwhile; try again')
}
