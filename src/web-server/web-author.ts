import type { Vault } from '../backends/vault/index.ts'
import type { Caller } from '../vfs/index.ts'
import type { WebAuthor } from '../web-api/index.ts'

const STEP_CHECKPOINT = /^step-(\d{1,9})$/

/** The provenance of a change. */
interface AuthoredChange {
  readonly caller?: Caller | undefined
  readonly trace?: string | undefined
}

/** Finds the authors of changes to a vault, and the steps of processes that made them. */
export class WebAuthors {
  readonly #steps: readonly { readonly step: number; readonly row: number }[]

  private constructor(steps: readonly { readonly step: number; readonly row: number }[]) {
    this.#steps = steps
  }

  /** Reads the checkpoints that a process takes at the end of each step with changes. */
  static async read(vault: Vault): Promise<WebAuthors> {
    const steps: { readonly step: number; readonly row: number }[] = []
    for (const { name } of await vault.checkpoints()) {
      const [, step] = STEP_CHECKPOINT.exec(name) ?? []
      if (step !== undefined) steps.push({ step: Number(step), row: await vault.getCheckpointRow(name) })
    }
    return new WebAuthors(steps.sort((one, other) => one.row - other.row))
  }

  /** Returns the author of the change at a journal row. */
  find({ caller, trace }: AuthoredChange, row: number): WebAuthor {
    const kind = caller?.kind === 'context' ? 'person' : (caller?.kind ?? 'unknown')
    const pid = caller?.kind === 'process' ? caller.pid : null
    const step = pid === null ? null : (this.#steps.find((each) => each.row >= row)?.step ?? null)
    const context = caller === undefined || caller.kind === 'system' ? '' : caller.context
    return { kind, context, pid, trace: trace ?? null, step }
  }
}
