import type { NormalizedText } from '../normalized-text.ts'

export type ThreatKind = 'hidden_unicode' | 'prompt_injection' | 'exfiltration' | 'role_hijack'

/** A pattern that a stored text must not match. */
export interface ScanRule {
  readonly kind: ThreatKind
  /** Description of the problem, for the author. */
  readonly says: string
  /** Form of the text that the pattern matches. */
  readonly reading: keyof NormalizedText
  readonly pattern: RegExp
}

/** Builds a pattern of whole words in a row; each part is a pattern. */
export function createPhrasePattern(...parts: readonly string[]): RegExp {
  const words = parts.map((part) => `(?:${part})`).join(' ')
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${words}(?![\p{L}\p{N}])`, 'u')
}

/** Builds a pattern of a word followed by at most `count` others. */
export function allowWordsAfter(word: string, count: number): string {
  return String.raw`(?:${word})(?: [\p{L}\p{N}]+){0,${count}}`
}
