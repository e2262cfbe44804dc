import type { VNode } from 'preact'
import { useState } from 'preact/hooks'

interface ConfirmButtonProps {
  readonly label: string
  readonly question: string
  readonly onConfirm: () => void
}

/** A button that asks once more in its own place. */
export function ConfirmButton({ label, question, onConfirm }: ConfirmButtonProps): VNode {
  const [isAsking, ask] = useState(false)
  if (!isAsking)
    return (
      <button type="button" class="button bad" onClick={() => ask(true)}>
        {label}
      </button>
    )
  return (
    <span class="confirm">
      {question}{' '}
      <button
        type="button"
        class="button bad"
        onClick={() => {
          ask(false)
          onConfirm()
        }}
      >
        {label}
      </button>{' '}
      <button type="button" class="button" onClick={() => ask(false)}>
        Cancel
      </button>
    </span>
  )
}
