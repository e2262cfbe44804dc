import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHome } from '../../src/backends/vault/index.ts'
import { MountedVault } from '../fuse/mounted-vault.ts'

/** A directory on a fresh, mounted vault, and one on the plain disk to hold it against. */
export class Places implements AsyncDisposable {
  readonly plain: string
  readonly mounted: string
  readonly #vault: MountedVault

  private constructor(plain: string, vault: MountedVault) {
    this.plain = plain
    this.mounted = vault.path
    this.#vault = vault
  }

  static async create(): Promise<Places> {
    const plain = mkdtempSync(join(tmpdir(), 'coppice-plain-'))
    chmodSync(plain, 0o755)
    return new Places(plain, await MountedVault.create())
  }

  /** A new directory that everybody may use, in each of the two. */
  pair(name: string): { readonly plain: string; readonly mounted: string } {
    return { plain: openDirectory(this.plain, name), mounted: openDirectory(this.mounted, name) }
  }

  /** What is damaged in the vault after all that was done in it. */
  async damage(): Promise<readonly unknown[]> {
    await using home = await openHome({ path: this.#vault.home })
    return (await home.fsck()).damaged
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#vault[Symbol.asyncDispose]()
    rmSync(this.plain, { recursive: true, force: true })
  }
}

function openDirectory(root: string, name: string): string {
  const directory = join(root, name)
  mkdirSync(directory)
  chmodSync(directory, 0o777)
  return directory
}
