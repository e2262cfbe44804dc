import { findHiddenCharacter } from './hidden-unicode.ts'
import { type NormalizedText, normalizeText } from './normalized-text.ts'
import { addressRules } from './rules/address.ts'
import { exfiltrationRules } from './rules/exfiltration.ts'
import { injectionRules } from './rules/injection.ts'
import { roleHijackRules } from './rules/role-hijack.ts'
import type { ScanRule, ThreatKind } from './rules/rule.ts'

export type { ThreatKind }

export interface ScanOptions {
  /** True if the text came from a tool or a page: it may state facts, but not give orders. */
  readonly isForeign?: boolean
}

/** Reason for a refusal. */
export interface ScanFinding {
  readonly kind: ThreatKind
  /** Description of the problem, for the author. */
  readonly says: string
}

const ownRules: readonly ScanRule[] = [...injectionRules, ...roleHijackRules, ...exfiltrationRules]
const foreignRules: readonly ScanRule[] = [...ownRules, ...addressRules]

/** Returns the first finding that forbids storing a text; undefined if there is none. */
export function scanText(text: string, { isForeign = false }: ScanOptions = {}): ScanFinding | undefined {
  const hidden = findHiddenCharacter(text)
  if (hidden !== undefined)
    return { kind: 'hidden_unicode', says: `it contains an invisible character: ${hidden}` }
  const rules = isForeign ? foreignRules : ownRules
  const [found] = normalizeText(text).flatMap((reading) => rules.filter((rule) => matchesRule(rule, reading)))
  return found === undefined ? undefined : { kind: found.kind, says: found.says }
}

function matchesRule({ reading, pattern }: ScanRule, readings: NormalizedText): boolean {
  return pattern.test(readings[reading])
}
