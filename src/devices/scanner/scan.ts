import { hiddenCharacter } from './hidden-unicode.ts'
import { type Reading, readingsOf } from './readings.ts'
import { addressRules } from './rules/address.ts'
import { exfiltrationRules } from './rules/exfiltration.ts'
import { injectionRules } from './rules/injection.ts'
import { roleHijackRules } from './rules/role-hijack.ts'
import type { Rule, ThreatKind } from './rules/rule.ts'

export type { ThreatKind }

export interface ScanOptions {
  /** The text came from a tool or a page: it may tell, and not order. */
  readonly isForeign?: boolean
}

/** Why a text is refused. */
export interface ScanFinding {
  readonly kind: ThreatKind
  /** What is wrong with it, for who wrote it. */
  readonly says: string
}

const ownRules: readonly Rule[] = [...injectionRules, ...roleHijackRules, ...exfiltrationRules]
const foreignRules: readonly Rule[] = [...ownRules, ...addressRules]

/** The first thing a text must not say if it is to be kept; undefined if there is nothing against it. */
export function scan(text: string, { isForeign = false }: ScanOptions = {}): ScanFinding | undefined {
  const hidden = hiddenCharacter(text)
  if (hidden !== undefined)
    return { kind: 'hidden_unicode', says: `it has a character nobody sees: ${hidden}` }
  const rules = isForeign ? foreignRules : ownRules
  const [found] = readingsOf(text).flatMap((reading) => rules.filter((rule) => isMet(rule, reading)))
  return found === undefined ? undefined : { kind: found.kind, says: found.says }
}

function isMet({ reading, pattern }: Rule, readings: Reading): boolean {
  return pattern.test(readings[reading])
}
