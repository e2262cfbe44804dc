import { type Signal, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** A key of a screen and its action. */
export interface KeyAction {
  readonly key: string
  readonly label: string
  /** Must be pressed twice: a stray key decides nothing. */
  readonly isGuarded?: boolean
  readonly run: () => void
}

/** Keys of the screens that are shown, for the help. */
export const shownKeys: Signal<readonly KeyAction[]> = signal([])
/** The guarded key that was pressed once. */
export const armedKey: Signal<KeyAction | undefined> = signal(undefined)

/** Time in which a guarded key must be pressed again. */
const GUARD_MS = 2500
const handlers = new Set<() => readonly KeyAction[]>()
let disarming: ReturnType<typeof setTimeout> | undefined

/** Connects keys while a component is shown. The latest actions count, without connecting again. */
export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const handler = () => latest.current
    handlers.add(handler)
    showKeys()
    return () => {
      handlers.delete(handler)
      showKeys()
    }
  }, [])
}

/** Listens to keys of the whole page. */
export function startKeyboard(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || belongsToElement(event)) return
    const action = listActions().find(({ key }) => key === event.key)
    if (action === undefined) return disarm()
    event.preventDefault()
    pressAction(action, event.repeat)
  })
}

function pressAction(action: KeyAction, isRepeat: boolean): void {
  if (!action.isGuarded) {
    disarm()
    action.run()
    return
  }
  // A key that is held down must not count as the second press.
  if (isRepeat) return
  if (armedKey.value?.key === action.key) {
    disarm()
    action.run()
    return
  }
  disarm()
  armedKey.value = action
  disarming = setTimeout(disarm, GUARD_MS)
}

function disarm(): void {
  clearTimeout(disarming)
  armedKey.value = undefined
}

function listActions(): KeyAction[] {
  return [...handlers].reverse().flatMap((handler) => handler())
}

function showKeys(): void {
  shownKeys.value = listActions()
}

/** Returns true for a key that the focused element needs: text in a field, Enter on a button. */
function belongsToElement(event: KeyboardEvent): boolean {
  // The target of an event in a shadow root is its host; the path begins where it happened.
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable) return true
  if (target.closest('dialog[open], textarea, select') !== null) return true
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'range'].includes(target.type)
  return event.key === 'Enter' && target.closest('a, button, summary') !== null
}
