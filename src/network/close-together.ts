import type { Duplex } from 'node:stream'

/** Connects the ends of two streams: an error or the close of either closes both. */
export function closeTogether(one: Duplex, other: Duplex): void {
  for (const [stream, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    stream.on('error', () => stream.destroy())
    stream.once('close', () => peer.destroy())
    if (stream.destroyed) peer.destroy()
  }
}
