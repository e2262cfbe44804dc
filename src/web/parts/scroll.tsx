import type { ComponentChildren, VNode } from 'preact'

export interface ScrollProps {
  readonly label: string
  readonly class?: string
  readonly children: ComponentChildren
}

/** A region that scrolls by itself. The keyboard reaches it, so that its end can be read without a mouse. */
export function Scroll({ label, class: name = '', children }: ScrollProps): VNode {
  return (
    // biome-ignore lint/a11y: see above; it is no landmark, since a page has many
    <div class={`scroll ${name}`} tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  )
}
