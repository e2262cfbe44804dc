import { makerOf, ownMark } from '../../machine/index.ts'

const TURN = '.coppice-turn-'
const STAGE = '.coppice-apply-'

/** A name for the turn to write into a directory. */
export function newTurnName(): string {
  return TURN + ownMark()
}

/** A name for a stage in a directory: on the same disk, so that names can change hands. */
export function newStageName(): string {
  return STAGE + ownMark()
}

/** The mark in the name of a turn; undefined for any other name, which somebody may have chosen. */
export function turnMark(name: string): string | undefined {
  return markBehind(TURN, name)
}

/** The mark in the name of a stage; undefined for any other name. */
export function stageMark(name: string): string | undefined {
  return markBehind(STAGE, name)
}

/** Whether a path leads to a name that is kept for whoever writes into a directory, or through one. */
export function isKeptForWriting(path: string): boolean {
  return path.split('/').some((name) => (turnMark(name) ?? stageMark(name)) !== undefined)
}

function markBehind(prefix: string, name: string): string | undefined {
  const mark = name.startsWith(prefix) ? name.slice(prefix.length) : ''
  return makerOf(mark) && mark
}
