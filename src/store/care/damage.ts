import { getErrorMessage } from '../engines/engine-errors.ts'

/** An object that differs from what was stored, and the reason. */
export interface Damage {
  readonly kind: 'page' | 'blob' | 'vault' | 'journal' | 'record' | 'store'
  /** Number of the page, blob or vault; for a journal, its row; for a record or the store itself, 0. */
  readonly id: number
  readonly detail: string
  /**
   * For a page or blob the files that use it, each `vault:path` or `vault@checkpoint:path`; for a vault or journal the
   * vault; for a record its key.
   */
  readonly places?: readonly string[]
}

/** Receives damage; without a reporter, damage is an error. */
export type DamageReporter = (damage: Damage) => void

/** Returns the decoded value alone; an empty list after reporting that it is damaged. Throws without a reporter. */
export function decodeOrReport<T>(
  decode: () => T,
  damage: Omit<Damage, 'detail'>,
  report: DamageReporter | undefined,
): T[] {
  try {
    return [decode()]
  } catch (error) {
    if (report === undefined) throw error
    report({ ...damage, detail: getErrorMessage(error) })
    return []
  }
}
