import { statSync } from 'node:fs'

/** Number of overlays that other processes learn of: the latest ones. They probe others again. */
const MAX_LISTED = 64
const known = new Set<string>()

/** Names an overlay over a directory with its changes in another: what decides whether the kernel mounts it. */
export function identifyOverlay(lower: string, changes: string): string {
  const { dev, ino } = statSync(lower)
  return `${dev}:${ino}:${statSync(changes).dev}`
}

/** True if such an overlay was mounted since the machine started. */
export function isOverlayKnownToWork(overlay: string): boolean {
  return known.has(overlay)
}

/** Records an overlay that was mounted, which saves the probe. */
export function rememberOverlay(overlay: string): void {
  known.delete(overlay)
  known.add(overlay)
}

/** Lists the overlays that were mounted last, the latest last. */
export function listKnownOverlays(): string[] {
  return [...known].slice(-MAX_LISTED)
}

export function forgetOverlays(): void {
  known.clear()
}
