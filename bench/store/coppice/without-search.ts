import type { Capability, FileSystem } from '../../../src/vfs/index.ts'

/** A file system that does not say it can search, so that `grep` reads every file. */
export class WithoutSearch implements FileSystem {
  readonly capabilities: ReadonlySet<Capability>
  readonly #fs: FileSystem

  constructor(fs: FileSystem) {
    this.#fs = fs
    this.capabilities = new Set([...fs.capabilities].filter((each) => each !== 'search'))
  }

  exists: FileSystem['exists'] = (...args) => this.#fs.exists(...args)
  stat: FileSystem['stat'] = (...args) => this.#fs.stat(...args)
  readdir: FileSystem['readdir'] = (...args) => this.#fs.readdir(...args)
  read: FileSystem['read'] = (...args) => this.#fs.read(...args)
  walk: FileSystem['walk'] = (...args) => this.#fs.walk(...args)
  materialize: FileSystem['materialize'] = (...args) => this.#fs.materialize(...args)
  write: FileSystem['write'] = (...args) => this.#fs.write(...args)
  mkdir: FileSystem['mkdir'] = (...args) => this.#fs.mkdir(...args)
  remove: FileSystem['remove'] = (...args) => this.#fs.remove(...args)
}
