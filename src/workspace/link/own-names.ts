import { makerOf, ownMark } from '../../machine/index.ts'

const STAGE = '.coppice-apply-'

/** A name for a stage in a directory: on the same disk, so that names can change hands. */
export function newStageName(): string {
  return STAGE + ownMark()
}

/** Whether a path leads to a name that is kept for whoever writes into a directory, or through one. */
export function isKeptForWriting(path: string): boolean {
  return path.split('/').some(isStageName)
}

function isStageName(name: string): boolean {
  return name.startsWith(STAGE) && makerOf(name.slice(STAGE.length)) !== undefined
}
