import { hash as digest } from 'node:crypto'
import type { Home } from '../../src/backends/vault/index.ts'
import {
  append,
  type FileSystem,
  isVfsError,
  MemoryFs,
  move,
  readFile,
  readText,
  VfsError,
} from '../../src/vfs/index.ts'
import type { Step } from './script.ts'

/** Where a script is performed: a home, or a model of one. */
export interface Stage {
  names(): Promise<string[]>
  vault(name: string): Promise<FileSystem>
  checkpoints(vault: string): Promise<string[]>
  at(vault: string, checkpoint: string): Promise<FileSystem>
  checkpoint(vault: string, name: string): Promise<void>
  forget(vault: string, name: string): Promise<void>
  restore(vault: string, name: string): Promise<void>
  fork(vault: string, name: string): Promise<void>
  /** Brings a fork into the vault it grew from, which has not changed since. */
  merge(vault: string, name: string): Promise<void>
  sync(): Promise<void>
}

/** Performs a step; tells `done` or the code of its refusal. */
export async function perform(stage: Stage, step: Step): Promise<string> {
  try {
    await act(stage, step)
    return 'done'
  } catch (error) {
    if (isVfsError(error) && error.code !== 'EIO' && error.code !== 'ENOSPC') return error.code
    throw error
  }
}

async function act(stage: Stage, step: Step): Promise<void> {
  if (step.act === 'sync') return stage.sync()
  if (step.act === 'checkpoint') return stage.checkpoint(step.vault, step.name)
  if (step.act === 'forget') return stage.forget(step.vault, step.name)
  if (step.act === 'restore') return stage.restore(step.vault, step.name)
  if (step.act === 'fork') return stage.fork(step.vault, step.name)
  if (step.act === 'merge') return stage.merge(step.vault, step.name)
  const fs = await stage.vault(step.vault)
  if (step.act === 'write') await fs.write(step.path, step.content)
  else if (step.act === 'append') await append(fs, step.path, step.content)
  else if (step.act === 'mkdir') await fs.mkdir(step.path)
  else if (step.act === 'remove') await fs.remove(step.path, { recursive: true })
  else if (step.act === 'rename') await move(fs, step.path, step.to, { overwrite: true })
  else if (step.act === 'burst') await Promise.all(step.paths.map((path) => fs.write(path, step.content)))
}

/** Of several writes issued together and cut short, performs those that a home turns out to have done. */
export async function performPart(
  model: Stage,
  { vault, paths, content }: Extract<Step, { act: 'burst' }>,
  home: Stage,
): Promise<void> {
  const [fs, expected] = [await home.vault(vault), await model.vault(vault)]
  for (const path of paths) {
    const isThere = (await fs.exists(path)) && (await readText(fs, path)) === content
    if (isThere) await expected.write(path, content)
  }
}

export class HomeStage implements Stage {
  readonly #home: Home

  constructor(home: Home) {
    this.#home = home
  }

  names(): Promise<string[]> {
    return this.#home.vaults()
  }

  vault(name: string): Promise<FileSystem> {
    return this.#home.vault(name)
  }

  async checkpoints(vault: string): Promise<string[]> {
    const found = await (await this.#home.vault(vault)).checkpoints()
    return found.map(({ name }) => name)
  }

  async at(vault: string, checkpoint: string): Promise<FileSystem> {
    return (await this.#home.vault(vault)).at(checkpoint)
  }

  async checkpoint(vault: string, name: string): Promise<void> {
    await (await this.#home.vault(vault)).checkpoint(name)
  }

  async forget(vault: string, name: string): Promise<void> {
    await (await this.#home.vault(vault)).removeCheckpoint(name)
  }

  async restore(vault: string, name: string): Promise<void> {
    await (await this.#home.vault(vault)).restore(name)
  }

  async fork(vault: string, name: string): Promise<void> {
    await this.#home.fork(vault, name)
  }

  async merge(vault: string, name: string): Promise<void> {
    await this.#home.merge(name, vault)
  }

  async sync(): Promise<void> {
    await this.#home.sync()
  }
}

interface VaultModel {
  readonly fs: MemoryFs
  readonly checkpoints: ReadonlyMap<string, MemoryFs>
}

/** What a home must hold, in memory. A copy of it costs nothing, so every state on the way can be kept. */
export class HomeModel implements Stage {
  readonly #vaults: Map<string, VaultModel>

  constructor(vaults: ReadonlyMap<string, VaultModel> = new Map()) {
    this.#vaults = new Map([...vaults].map(([name, vault]) => [name, { ...vault, fs: vault.fs.fork() }]))
  }

  copy(): HomeModel {
    return new HomeModel(this.#vaults)
  }

  create(name: string): void {
    this.#vaults.set(name, { fs: new MemoryFs(), checkpoints: new Map() })
  }

  async names(): Promise<string[]> {
    return [...this.#vaults.keys()].sort()
  }

  async vault(name: string): Promise<FileSystem> {
    return this.#get(name).fs
  }

  async checkpoints(vault: string): Promise<string[]> {
    return [...this.#get(vault).checkpoints.keys()]
  }

  async at(vault: string, checkpoint: string): Promise<FileSystem> {
    return this.#checkpoint(vault, checkpoint)
  }

  async checkpoint(vault: string, name: string): Promise<void> {
    const { fs, checkpoints } = this.#get(vault)
    if (checkpoints.has(name)) throw new VfsError('EEXIST', name)
    this.#vaults.set(vault, { fs, checkpoints: new Map([...checkpoints, [name, fs.fork()]]) })
  }

  async forget(vault: string, name: string): Promise<void> {
    const { fs, checkpoints } = this.#get(vault)
    this.#checkpoint(vault, name)
    this.#vaults.set(vault, { fs, checkpoints: new Map([...checkpoints].filter(([key]) => key !== name)) })
  }

  async restore(vault: string, name: string): Promise<void> {
    const { checkpoints } = this.#get(vault)
    this.#vaults.set(vault, { fs: this.#checkpoint(vault, name).fork(), checkpoints })
  }

  async fork(vault: string, name: string): Promise<void> {
    const { fs } = this.#get(vault)
    if (this.#vaults.has(name)) throw new VfsError('EEXIST', name)
    this.#vaults.set(name, { fs: fs.fork(), checkpoints: new Map() })
  }

  async merge(vault: string, name: string): Promise<void> {
    const { checkpoints } = this.#get(vault)
    this.#vaults.set(vault, { fs: this.#get(name).fs.fork(), checkpoints })
  }

  async sync(): Promise<void> {}

  #get(name: string): VaultModel {
    const vault = this.#vaults.get(name)
    if (vault === undefined) throw new VfsError('ENOENT', name)
    return vault
  }

  #checkpoint(vault: string, name: string): MemoryFs {
    const found = this.#get(vault).checkpoints.get(name)
    if (found === undefined) throw new VfsError('ENOENT', name)
    return found
  }
}

/** Everything in all vaults and checkpoints, or only the files of the vaults named, as one value to compare. */
export async function stateOf(stage: Stage, only?: ReadonlySet<string>): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {}
  for (const name of await stage.names()) {
    if (only !== undefined && !only.has(name)) continue
    state[name] = await filesOf(await stage.vault(name))
    for (const checkpoint of (await stage.checkpoints(name)).sort()) {
      const files = only === undefined ? await filesOf(await stage.at(name, checkpoint)) : 'is there'
      state[`${name} at ${checkpoint}`] = files
    }
  }
  return { vaults: await stage.names(), ...state }
}

async function filesOf(fs: FileSystem): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for await (const { path, stat } of fs.walk('/', { includeDirs: true })) {
    files[path] = stat.type === 'file' ? formatContent(await readFile(fs, path)) : stat.type
  }
  return files
}

/** Enough of a content to recognise it, and enough of its hash to notice any change of it. */
function formatContent(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 12)).toString()
  return `${bytes.length} bytes '${start}' ${digest('sha1', bytes).slice(0, 12)}`
}
