import { randomBytes } from 'node:crypto'
import type { Home, Vault } from '../backends/vault/index.ts'
import type { RunReport } from '../boundary/index.ts'
import type { CommandCall } from '../tools/index.ts'
import { type CallContext, isVfsError } from '../vfs/index.ts'
import { type ShortChanges, shortenChanges } from './short-changes.ts'
import type { CommandRun, CommandTarget, KeptChanges } from './workspace-commands.ts'

const NOT_KEPT = { checkpoint: null, unmerged: null }

/**
 * A vault in which commands run: each in a fork, which is merged when the command has ended. So a command sees one state
 * throughout, and concurrent changes are not lost.
 */
export class VaultCommands implements CommandTarget {
  readonly #home: Home
  readonly #vault: Vault

  constructor(home: Home, vault: Vault) {
    this.#home = home
    this.#vault = vault
  }

  get vault(): string {
    return this.#vault.name
  }

  async begin({ ctx }: CommandCall): Promise<CommandRun> {
    const { createForkName } = await import('../workspace/index.ts')
    let changes: ShortChanges = { changes: [] }
    return {
      // A fork with such a name belongs to this process. The next process deletes it if this one is killed.
      options: {
        fork: createForkName(),
        onChanges: async (own) => {
          changes = await shortenChanges(own.changes, own.trees)
        },
      },
      keep: async (report) => ({ ...changes, ...(await this.#keep(report, ctx)) }),
      discard: async ({ fork }) => {
        if (fork !== null) await this.#home.deleteVault(fork)
      },
    }
  }

  async #keep(
    { fork, result: { decision } }: RunReport,
    ctx: CallContext,
  ): Promise<Omit<KeptChanges, keyof ShortChanges>> {
    if (fork === null) return NOT_KEPT
    const { caller, trace } = ctx
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    const isUndoable = decision.action !== 'allow'
    const checkpoint = isUndoable ? (await this.#vault.checkpoint()).name : null
    try {
      const changes = await this.#home.merge(fork, this.#vault.name, { onConflict: 'fail', ...provenance })
      await this.#home.deleteVault(fork)
      if (changes.length > 0 || checkpoint === null) return { checkpoint, unmerged: null }
      await this.#vault.removeCheckpoint(checkpoint)
      return NOT_KEPT
    } catch (error) {
      if (!isVfsError(error, 'ECONFLICT')) throw error
      if (checkpoint !== null) await this.#vault.removeCheckpoint(checkpoint)
      const unmerged = await this.#keepFork(fork, provenance)
      return { checkpoint: null, unmerged: unmerged.name }
    }
  }

  /** Moves the changes of a fork to one with a permanent name. */
  async #keepFork(fork: string, provenance: Pick<CallContext, 'caller' | 'trace'>): Promise<Vault> {
    const name = `exec-${randomBytes(6).toString('hex')}`
    const kept = await this.#home.fork(this.#vault.name, name, { baseOf: fork })
    await this.#home.merge(fork, name, { onConflict: 'theirs', ...provenance })
    await this.#home.deleteVault(fork)
    return kept
  }
}
