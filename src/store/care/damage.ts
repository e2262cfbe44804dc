import { getErrorMessage } from '../engines/engine-errors.ts'

/** Something that is not what was stored, and what is wrong with it. */
export interface Damage {
  readonly kind: 'page' | 'blob' | 'vault' | 'journal' | 'record' | 'store'
  /** The number of the page, blob or vault; of the journal, that of the row; of a record or the store itself, 0. */
  readonly id: number
  readonly detail: string
  /** The files it is a part of, each `vault:path`, or `vault@checkpoint:path`. */
  readonly places?: readonly string[]
}

/** Takes what is damaged; where there is none, damage is an error. */
export type DamageReporter = (damage: Damage) => void

/** Decodes something, or reports that it cannot be decoded. Throws without a sink. */
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
