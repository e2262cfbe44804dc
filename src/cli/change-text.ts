import { shown } from '../server/text/index.ts'
import type { Change } from '../vfs/index.ts'
import { styled, type Terminal } from './terminal.ts'

const letters = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const
const styles = { added: 'green', modified: 'yellow', deleted: 'red', renamed: 'cyan' } as const

/** `M /src/cart.ts`, and for a rename `R /old.ts -> /new.ts`. */
export function changeText(terminal: Terminal, { kind, path, from }: Change): string {
  const place = from === undefined ? shown(path) : `${shown(from)} -> ${shown(path)}`
  return styled(terminal, styles[kind], `${letters[kind]} ${place}`)
}
