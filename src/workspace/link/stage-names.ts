import { createProcessTag, parseProcessTag } from '../../machine/index.ts'

const STAGE_PREFIX = '.coppice-apply-'

/** A name for a stage in a directory: on the same disk, so that names can change hands. */
export function createStageName(): string {
  return STAGE_PREFIX + createProcessTag()
}

/** True if a path leads to or through a name that is reserved for the stage of an apply. */
export function isReservedPath(path: string): boolean {
  return path.split('/').some(isStageName)
}

function isStageName(name: string): boolean {
  return name.startsWith(STAGE_PREFIX) && parseProcessTag(name.slice(STAGE_PREFIX.length)) !== undefined
}
