import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHome } from '../../src/backends/vault/index.ts'
import { type FuseMount, mountVault } from '../../src/fuse/index.ts'
import type { VaultMountOptions } from '../../src/fuse/mount-vault.ts'
import type { EngineName } from '../support/engines.ts'

/** Why nothing can be mounted here; undefined if it can. */
export function whyNoMount(): string | undefined {
  if (process.getuid?.() !== 0) return 'mounting needs root'
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
    return undefined
  } catch {
    return 'this machine has no /dev/fuse'
  }
}

/** A home with a vault `v`, mounted in a directory. Dispose of it, and everything is gone. */
export class MountedVault implements AsyncDisposable {
  readonly home: string
  readonly mounts: FuseMount[] = []
  readonly #scratch: string
  readonly #engine: EngineName

  private constructor(scratch: string, engine: EngineName) {
    this.#scratch = scratch
    this.#engine = engine
    // Other users get as far as the mount.
    chmodSync(scratch, 0o755)
    this.home = join(scratch, 'home')
  }

  static async create({ engine = 'sqlite' }: { readonly engine?: EngineName } = {}): Promise<MountedVault> {
    const made = new MountedVault(mkdtempSync(join(tmpdir(), 'coppice-fuse-')), engine)
    await using home = await openHome({ path: made.home, engine })
    await home.createVault('v')
    await made.mount()
    return made
  }

  /** The first place it is mounted in. */
  get path(): string {
    const [mount] = this.mounts
    if (mount === undefined) throw new Error('it is not mounted')
    return mount.directory
  }

  /** Mounts it in one more place. */
  async mount(options: Pick<VaultMountOptions, 'isReadOnly' | 'withoutXattrs'> = {}): Promise<FuseMount> {
    const directory = join(this.#scratch, `mount-${this.mounts.length}`)
    mkdirSync(directory)
    const home = { path: this.home, engine: this.#engine }
    const mount = await mountVault({ home, vault: 'v', directory, ...options })
    this.mounts.push(mount)
    return mount
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const mount of this.mounts) await mount[Symbol.asyncDispose]()
    rmSync(this.#scratch, { recursive: true, force: true })
  }
}
