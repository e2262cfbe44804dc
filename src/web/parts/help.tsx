import { type Signal, signal } from '@preact/signals'
import type { VNode } from 'preact'
import { Dialog } from './dialog.tsx'
import { armedKey, shownKeys } from './keyboard.ts'

/** True while the list of keys is open. */
export const isHelpOpen: Signal<boolean> = signal(false)

/** The keys that work on this screen. */
export function Help(): VNode | null {
  if (!isHelpOpen.value) return null
  const keys = new Map(shownKeys.value.map((action) => [action.key, action]))
  return (
    <Dialog
      label="Keys"
      onClose={() => {
        isHelpOpen.value = false
      }}
    >
      <h2>Keys</h2>
      <dl class="keys">
        {[...keys.values()].flatMap(({ key, label, isGuarded }) => [
          <dt key={`key ${key}`}>
            <kbd>{key}</kbd> {isGuarded && <kbd>{key}</kbd>}
          </dt>,
          <dd key={key}>
            {label}
            {isGuarded && <span class="soft">, pressed twice</span>}
          </dd>,
        ])}
        <dt>
          <kbd>Ctrl</kbd> <kbd>K</kbd>
        </dt>
        <dd>Go to a screen, process or fork</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>Close a dialog</dd>
      </dl>
    </Dialog>
  )
}

/** Asks for the second press of a guarded key. */
export function ArmedKey(): VNode | null {
  const action = armedKey.value
  if (action === undefined) return null
  return (
    <div class="armed" role="status">
      Press <kbd>{action.key}</kbd> again: {action.label.toLowerCase()}
    </div>
  )
}
