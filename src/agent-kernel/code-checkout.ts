import { HostFs } from '../backends/host/index.ts'
import type { Vault } from '../backends/vault/index.ts'
import type { ChangedFile, WorkspaceCheckout } from '../devices/lsp/index.ts'
import { Mutex } from '../machine/index.ts'
import { copy, type FileSystem } from '../vfs/index.ts'
import { listTouchedPaths, statIfPresent } from './vault-feed.ts'

export interface CodeCheckoutOptions {
  readonly vault: Vault
  /** Token of the vault's feed; the directory has the files of that time or later. */
  readonly token: string | undefined
  readonly directory: string
  readonly wrapCommand: WorkspaceCheckout['wrapCommand']
}

/** Files of a fork in a host directory, refreshed before each use. */
export class CodeCheckout implements WorkspaceCheckout, AsyncDisposable {
  readonly directory: string
  readonly wrapCommand: WorkspaceCheckout['wrapCommand']
  readonly changes: NonNullable<WorkspaceCheckout['changes']>
  readonly #vault: Vault
  readonly #host: HostFs
  readonly #changed = new Map<string, { readonly file: ChangedFile; readonly version: number }>()
  #token: string | undefined
  #version = 0
  readonly #mutex = new Mutex()

  constructor({ vault, token, directory, wrapCommand }: CodeCheckoutOptions) {
    this.directory = directory
    this.wrapCommand = wrapCommand
    this.#vault = vault
    this.#token = token
    this.#host = new HostFs(directory)
    const version = () => this.#version
    this.changes = {
      get version() {
        return version()
      },
      since: (seen) => this.#listChangesSince(seen),
    }
  }

  /** Applies the changes since the last refresh; concurrent calls run in order. */
  refresh(): Promise<void> {
    return this.#mutex.run(() => this.#refresh())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#mutex.run(() => this.#host.close())
  }

  #listChangesSince(seen: number): ChangedFile[] {
    return [...this.#changed.values()].flatMap(({ file, version }) => (version > seen ? [file] : []))
  }

  async #refresh(): Promise<void> {
    const touched = new Map<string, boolean>()
    let token = this.#token
    for await (const item of this.#vault.changes(token === undefined ? {} : { since: token })) {
      for (const [path, isWhole] of listTouchedPaths(item))
        touched.set(path, isWhole || touched.get(path) === true)
      token = item.token
    }
    if (touched.size === 0) return
    this.#version++
    // Parents first: a path may have become a directory.
    const paths = [...touched].sort(([one], [other]) => (one < other ? -1 : 1))
    for (const [path, isWhole] of paths) await this.#mirror(path, isWhole)
    this.#token = token
  }

  async #mirror(path: string, isWhole: boolean): Promise<void> {
    if (path === '/') return isWhole ? this.#mirrorAll() : undefined
    const [vaultStat, hostStat] = [
      await statIfPresent(this.#vault, path),
      await statIfPresent(this.#host, path),
    ]
    const isReplaced =
      hostStat !== undefined && (vaultStat === undefined || isWhole || vaultStat.type !== hostStat.type)
    if (isReplaced) {
      await this.#recordChanges(this.#host, path, 'deleted')
      await this.#host.remove(path, { recursive: true })
    }
    if (vaultStat?.type === 'directory' && !isWhole) await this.#host.mkdir(path, { parents: true })
    else if (vaultStat?.type === 'file') await this.#host.write(path, this.#vault.read(path))
    else if (vaultStat !== undefined)
      await copy(this.#vault, path, path, { into: this.#host, overwrite: true })
    if (vaultStat !== undefined) {
      await this.#recordChanges(
        this.#vault,
        path,
        hostStat === undefined || isReplaced ? 'created' : 'changed',
      )
    }
  }

  async #mirrorAll(): Promise<void> {
    const names = new Set<string>()
    for (const fs of [this.#vault, this.#host]) for await (const { name } of fs.readdir('/')) names.add(name)
    for (const name of names) await this.#mirror(`/${name}`, true)
  }

  /** Records every file at or below a path. */
  async #recordChanges(fs: FileSystem, path: string, kind: ChangedFile['kind']): Promise<void> {
    const version = this.#version
    const note = (file: string) => this.#changed.set(file, { file: { path: file, kind }, version })
    if ((await statIfPresent(fs, path))?.type !== 'directory') note(path)
    else for await (const entry of fs.walk(path)) note(entry.path)
  }
}
