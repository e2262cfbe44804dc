/** Messages from a subject's process to its parent: progress, measurements, and skipped work with the reason. */
export type Message =
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'measured'; readonly work: string; readonly value: number }
  | { readonly kind: 'skipped'; readonly work: string; readonly reason: string }

export function isMessage(message: unknown): message is Message {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false
  return message.kind === 'progress' || message.kind === 'measured' || message.kind === 'skipped'
}
