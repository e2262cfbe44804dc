import type { ComponentChildren, VNode } from 'preact'

export type TagTone = 'plain' | 'live' | 'wait' | 'good' | 'bad'

/** A state in one or two words. The colour repeats what the words say. */
export function Tag({
  tone = 'plain',
  children,
}: {
  readonly tone?: TagTone
  readonly children: ComponentChildren
}): VNode {
  return <span class={`tag ${tone}`}>{children}</span>
}
