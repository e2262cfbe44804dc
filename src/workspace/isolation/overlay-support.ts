import { statSync } from 'node:fs'

/** Overlays that are remembered; the oldest are forgotten first, and probed again. */
const MAX_KNOWN = 64
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

export function listKnownOverlays(): string[] {
  return [...known].slice(-MAX_KNOWN)
}

export function forgetOverlays(): void {
  known.clear()
}
