import { formatModes } from '../../diff/index.ts'
import { escapeName } from '../../text/index.ts'
import { type CollapsedDirectory, listGainedBits, type PathChange, type SpecialBit } from '../../vfs/index.ts'
import { applyStyle, type Terminal } from '../framework/terminal.ts'
import { formatCount } from './format-values.ts'

const kindLetters = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const
const kindStyles = { added: 'green', modified: 'yellow', deleted: 'red', renamed: 'cyan' } as const

/** Formats a change as `M /src/cart.ts`, and a rename as `R /old.ts -> /new.ts`. */
export function formatChange(terminal: Terminal, { kind, path, from }: PathChange): string {
  const pathText = from === undefined ? escapeName(path) : `${escapeName(from)} -> ${escapeName(path)}`
  return applyStyle(terminal, kindStyles[kind], `${kindLetters[kind]} ${pathText}`)
}

/** Formats a directory that stands for its files: `A /node_modules/  1234 files`. */
export function formatCollapsed(terminal: Terminal, { kind, path, files }: CollapsedDirectory): string {
  return `${formatChange(terminal, { kind, path: `${path}/` })}  ${formatCount(files, 'file')}`
}

/** Formats a change, with its mode if a file gained setuid or setgid. For lists without other details. */
export function formatChangeWithMode(terminal: Terminal, change: PathChange): string {
  const warning = listGainedBits(change).length === 0 ? '' : `  mode ${formatModes(change)}`
  return `${formatChange(terminal, change)}${warning}`
}

/** Converts a change to JSON. `gained` names the setuid and setgid bits that a file did not have before. */
export function toChangeJson<Given extends PathChange>(
  change: Given,
): Given & { readonly gained?: readonly SpecialBit[] } {
  const gained = listGainedBits(change)
  return gained.length === 0 ? change : { ...change, gained }
}
