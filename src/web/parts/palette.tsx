import { type Signal, signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { VisibleText } from './visible-text.tsx'

/** An entry of the palette: a place to go to, or something to do. */
export interface PaletteEntry {
  readonly label: string
  readonly kind: string
  readonly run: () => void
}

/** True while the palette is open. */
export const isPaletteOpen: Signal<boolean> = signal(false)

const MAX_SHOWN = 50

/** The command palette: everything that has an address, found by a part of its name. */
export function Palette({ entries }: { readonly entries: readonly PaletteEntry[] }): VNode | null {
  return isPaletteOpen.value ? <OpenPalette entries={entries} /> : null
}

function OpenPalette({ entries }: { readonly entries: readonly PaletteEntry[] }): VNode {
  const [text, setText] = useState('')
  const [selected, select] = useState(0)
  const found = findEntries(entries, text)
  const close = () => {
    isPaletteOpen.value = false
  }
  const run = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return
    close()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      select(Math.max(0, Math.min(found.length - 1, selected + step)))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(found[selected])
    }
  }
  return (
    <Dialog label="Go to" class="palette" onClose={close}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={found.length > 0 ? `palette-${selected}` : undefined}
        aria-label="Go to a screen, process or fork"
        placeholder="Go to a screen, process or fork"
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          select(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id="palette-entries" aria-label="Results">
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the input above keeps the focus
          <div
            role="option"
            id={`palette-${index}`}
            key={`${entry.kind} ${entry.label}`}
            aria-selected={index === selected}
            onClick={() => run(entry)}
          >
            <span>
              <VisibleText text={entry.label} />
            </span>
            <span>{entry.kind}</span>
          </div>
        ))}
      </div>
    </Dialog>
  )
}

/** Returns the entries with all words of a text, those that begin with its first word first. */
function findEntries(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = entries.filter(({ label, kind }) =>
    words.every((word) => `${label} ${kind}`.toLowerCase().includes(word)),
  )
  const first = words[0] ?? ''
  const starts = ({ label }: PaletteEntry) => (label.toLowerCase().startsWith(first) ? 0 : 1)
  return matching.sort((a, b) => starts(a) - starts(b)).slice(0, MAX_SHOWN)
}
