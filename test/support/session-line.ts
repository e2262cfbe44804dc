import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { Checkouts } from '../../src/workspace/checkout/index.ts'
import { compareTouchedPaths, toSessionChanges } from '../../src/workspace/link/index.ts'
import { VaultWorkspace } from '../../src/workspace/runtime/index.ts'
import {
  type CommandSession,
  openSession,
  type SessionChange,
  type StagedChange,
} from '../../src/workspace/session/index.ts'

/** A session over a base, and the one that comes after it. */
export interface SessionLine extends AsyncDisposable {
  readonly session: CommandSession
  /** What the next session tells, which starts with what this one changed. */
  next(changes: readonly SessionChange[]): Promise<readonly SessionChange[]>
}

/** Opens a session of a kind over a directory; for FUSE, over a vault it is imported into. */
export function openLine(kind: CommandSession['kind'], lower: string, place: string): Promise<SessionLine> {
  return kind === 'fuse' ? openLiveLine(lower, place) : openPlainLine(kind, lower, place)
}

async function openPlainLine(kind: 'overlay' | 'dir', lower: string, place: string): Promise<SessionLine> {
  const options = { directory: join(place, 'sessions') }
  const session = await openSession(kind, { lower, staged: [] }, options)
  let following: CommandSession | undefined
  return {
    session,
    next: async (changes) => {
      following = await openSession(kind, { lower, staged: changes.flatMap(stagedAs) }, options)
      return following.changes()
    },
    [Symbol.asyncDispose]: async () => {
      await following?.[Symbol.asyncDispose]()
      await session[Symbol.asyncDispose]()
    },
  }
}

/** The next session of a vault starts from the fork that the changes went into. */
async function openLiveLine(lower: string, place: string): Promise<SessionLine> {
  const line = await VaultLine.open('fuse', lower, place)
  return {
    session: line.session,
    next: async (changes) => {
      await line.collect(changes)
      const { home } = line
      const paths = await home.listTouchedPaths('base', 'kept')
      const [before, after] = [await home.posix('base'), await home.posix('kept')]
      const root = join(place, 'kept')
      await home.export('kept', root)
      return toSessionChanges(after, compareTouchedPaths(before, after, paths), paths, root)
    },
    [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
  }
}

/** A session over the vault `base`, with changes that go into the fork `kept`. */
export class VaultLine implements AsyncDisposable {
  readonly home: Home
  readonly session: CommandSession
  readonly #workspace: VaultWorkspace
  readonly #baseline: AsyncDisposable

  private constructor(
    home: Home,
    session: CommandSession,
    workspace: VaultWorkspace,
    baseline: AsyncDisposable,
  ) {
    this.home = home
    this.session = session
    this.#workspace = workspace
    this.#baseline = baseline
  }

  static async open(kind: CommandSession['kind'], lower: string, place: string): Promise<VaultLine> {
    const home = await openHome({ path: join(place, 'home') })
    await home.createVault('base')
    await home.import(lower, 'base')
    const checkouts = new Checkouts(home, join(place, 'checkouts'))
    const workspace = new VaultWorkspace(home, { vault: 'base', newFork: { name: 'kept' }, checkouts })
    const baseline = await workspace.baseline(kind)
    const session = await openSession(kind, baseline.session, { directory: join(place, 'sessions') })
    return new VaultLine(home, session, workspace, baseline)
  }

  async collect(changes: readonly SessionChange[]): Promise<void> {
    await using _changes = await this.#workspace.collect({
      changes,
      since: 0n,
      isCheckpointWanted: false,
      by: {},
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session[Symbol.asyncDispose]()
    await this.#baseline[Symbol.asyncDispose]()
    await this.home.close()
  }
}

function stagedAs(change: SessionChange): StagedChange[] {
  if (change.kind === 'gone') return [change]
  const { type, host, path, mode, mtimeNs, uid, gid } = change
  if (type === 'other') return []
  const content = type === 'file' ? readFileSync(host) : new Uint8Array()
  const target = type === 'symlink' ? readlinkSync(host) : ''
  return [{ kind: 'put', path, type, mode, mtimeNs, uid, gid, target, content: () => [content] }]
}
