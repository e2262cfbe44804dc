import { createProcessTag, parseProcessTag } from '../../machine/index.ts'

const STAGE_PREFIX = '.coppice-apply-'

/** A name for a stage in a directory: on the same disk, so that names can change hands. */
export function createStageName(): string {
  return STAGE_PREFIX + createProcessTag()
}

/** Whether a path leads to a name that is kept for whoever writes into a directory, or through one. */
export function isReservedPath(path: string): boolean {
  return path.split('/').some(isStageName)
}

function isStageName(name: string): boolean {
  return name.startsWith(STAGE_PREFIX) && parseProcessTag(name.slice(STAGE_PREFIX.length)) !== undefined
}
