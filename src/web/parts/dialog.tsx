import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

export interface DialogProps {
  readonly label: string
  readonly class?: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog of the browser: it keeps the focus, and Escape closes it. */
export function Dialog({ label, class: name = '', onClose, children }: DialogProps): VNode {
  const element = useRef<HTMLDialogElement>(null)
  // Before the next key arrives: it belongs into the dialog.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the key that closes it
    <dialog
      ref={element}
      class={`dialog ${name}`}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      {children}
    </dialog>
  )
}
