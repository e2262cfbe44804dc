import type { VNode } from 'preact'

/** Shown until the home is read: before that, "there are none" would be wrong. */
export function ReadingHome(): VNode {
  return (
    <div class="page">
      <p class="soft" role="status">
        Reading the home…
      </p>
    </div>
  )
}
