import { createProcessTag, parseProcessTag } from '../../machine/index.ts'

const STAGE_PREFIX = '.coppice-apply-'

/** Creates a name for a stage inside a directory: on the same disk, so that entries can be renamed. */
export function createStageName(): string {
  return STAGE_PREFIX + createProcessTag()
}

/** True if a path contains a name that is reserved for stages. */
export function isReservedPath(path: string): boolean {
  return path.split('/').some(isStageName)
}

function isStageName(name: string): boolean {
  return name.startsWith(STAGE_PREFIX) && parseProcessTag(name.slice(STAGE_PREFIX.length)) !== undefined
}
