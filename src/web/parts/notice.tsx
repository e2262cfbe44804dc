import type { ComponentChildren, VNode } from 'preact'

export interface NoticeProps {
  readonly title: string
  readonly tone?: 'plain' | 'warn' | 'bad'
  readonly children?: ComponentChildren
}

/** A state without content: nothing is here yet, or something failed. It says what to do. */
export function Notice({ title, tone = 'plain', children }: NoticeProps): VNode {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children !== undefined && <div class="notice-body">{children}</div>}
    </div>
  )
}

/** A command to type, as a person would. */
export function Command({ text }: { readonly text: string }): VNode {
  return <code class="command">{text}</code>
}
