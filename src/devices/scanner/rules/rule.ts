import type { NormalizedText } from '../normalized-text.ts'

export type ThreatKind = 'hidden_unicode' | 'prompt_injection' | 'exfiltration' | 'role_hijack'

/** Something a text that is kept must not say. */
export interface ScanRule {
  readonly kind: ThreatKind
  /** What is wrong with the text, for who wrote it. */
  readonly says: string
  /** The form of the text it looks at. */
  readonly reading: keyof NormalizedText
  readonly pattern: RegExp
}

/** Whole words in a row, each part a pattern of its own. */
export function createPhrasePattern(...parts: readonly string[]): RegExp {
  const words = parts.map((part) => `(?:${part})`).join(' ')
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${words}(?![\p{L}\p{N}])`, 'u')
}

/** A word, and at most so many others after it. */
export function allowWordsAfter(word: string, count: number): string {
  return String.raw`(?:${word})(?: [\p{L}\p{N}]+){0,${count}}`
}
