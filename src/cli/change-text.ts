import { modesText } from '../server/diff-text/index.ts'
import { shown } from '../server/text/index.ts'
import { type Change, gainedBits, type SpecialBit } from '../vfs/index.ts'
import { styled, type Terminal } from './terminal.ts'

const letters = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const
const styles = { added: 'green', modified: 'yellow', deleted: 'red', renamed: 'cyan' } as const

/** `M /src/cart.ts`, and for a rename `R /old.ts -> /new.ts`. */
export function changeText(terminal: Terminal, { kind, path, from }: Change): string {
  const place = from === undefined ? shown(path) : `${shown(from)} -> ${shown(path)}`
  return styled(terminal, styles[kind], `${letters[kind]} ${place}`)
}

/** The same with the mode behind it where a file got setuid or setgid, for lists that show nothing else of a change. */
export function changeLine(terminal: Terminal, change: Change): string {
  const warning = gainedBits(change).length === 0 ? '' : `  mode ${modesText(change)}`
  return `${changeText(terminal, change)}${warning}`
}

/** A change for programs: `gained` names setuid and setgid of a file that had them not before. */
export function changeValue<Given extends Change>(
  change: Given,
): Given & { readonly gained?: readonly SpecialBit[] } {
  const gained = gainedBits(change)
  return gained.length === 0 ? change : { ...change, gained }
}
