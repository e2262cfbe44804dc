import { mkdirSync } from 'node:fs'
import { removeAbandoned } from '../../../machine/index.ts'
import { Descent, type HostDirectory, openHostDirectory } from './host-directory.ts'
import { HostFault, hostError, isErrno } from './host-fault.ts'

const PRIVATE_MODE = 0o700

/** Where on the machine an export stands: the directory, and its name for messages. */
export class HostPlace {
  readonly #root: string
  readonly #names: string[] = []
  readonly #descent: Descent

  /** Makes the directory if it is missing. */
  constructor(root: string) {
    this.#root = root
    this.#descent = this.during('', () => {
      mkdirSync(root, { recursive: true })
      return new Descent(openHostDirectory(root))
    })
  }

  get here(): HostDirectory {
    return this.#descent.here
  }

  /** Into a directory that is there. False if there is nothing; EEXIST for anything else, links included. */
  enter(name: string): boolean {
    return this.during(name, () => {
      try {
        this.#descent.down(this.here.enter(checkedName(name)))
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
  make(name: string): void {
    if (this.enter(name)) {
      this.sweep()
      return
    }
    this.during(name, () => mkdirSync(this.here.at(checkedName(name)), PRIVATE_MODE))
    if (!this.enter(name)) this.during(name, () => removedMeanwhile())
  }

  /** Removes what exports into this directory left that were killed. */
  sweep(): void {
    this.during('', () => removeAbandoned(this.here.self()))
  }

  leave(): void {
    this.during('', () => this.#descent.up())
    this.#names.pop()
  }

  /** Runs a step with a name of this directory; what fails in it is told with the path of the machine. */
  during<T>(name: string, step: () => T): T {
    try {
      return step()
    } catch (error) {
      throw this.told(error, name)
    }
  }

  told(error: unknown, name: string): unknown {
    return hostError(error, this.pathOf(name), 'export')
  }

  /** The path of the machine a name of this directory has, for people. */
  pathOf(name: string): string {
    return [this.#root, ...this.#names, name].filter((part) => part !== '').join('/')
  }

  close(): void {
    this.#descent.close()
  }
}

/** A damaged or foreign tree may hold any name: none leads a call to another directory than the one it is in. */
export function checkedName(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0')) return name
  throw new HostFault('EINVAL', 'no file of this machine can have the name')
}

function removedMeanwhile(): never {
  throw new HostFault('ECONFLICT', 'it was removed meanwhile; try again')
}
