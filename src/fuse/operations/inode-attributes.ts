import type { InodeAttributes, InodeChanges } from '../inode-fs.ts'
import { parseSetAttributes, putAttributes, type SetAttributes } from '../protocol/index.ts'
import type { InodeRequestHandler } from './inode-request-handler.ts'

const SET_USER_ID = 0o4000
const SET_GROUP_ID = 0o2000
const GROUP_EXECUTE = 0o010
const PERMISSIONS = 0o7777
const FORMAT = 0o170000
const DIRECTORY = 0o040000

export const getattr: InodeRequestHandler = (request, reply, { attributes, validity }) => {
  putAttributes(reply, request.node, attributes.get(request.node), validity)
}

export const setattr: InodeRequestHandler = (request, reply, { attributes, validity }) => {
  const { node } = request
  const asked = parseSetAttributes(request)
  const mode = findModeAfter(asked, () => attributes.get(node))
  const changes = mode === undefined ? asked.changes : { ...asked.changes, mode }
  putAttributes(reply, node, attributes.set(node, changes), validity)
}

/** The mode that a change leaves behind beside what it asks for; undefined if that is the one there is. */
function findModeAfter(
  { changes, killsPrivileges }: SetAttributes,
  attributes: () => InodeAttributes,
): number | undefined {
  if (changes.mode !== undefined) return undefined
  if (!killsPrivileges && !hasOwnerChange(changes)) return undefined
  return findReducedMode(attributes().mode)
}

/** The permissions a file is left with that may not keep its privileges; undefined if that changes nothing. */
export function findReducedMode(mode: number): number | undefined {
  const kept = clearPrivilegeBits(mode)
  return (mode & FORMAT) === DIRECTORY || kept === (mode & PERMISSIONS) ? undefined : kept
}

/** Permissions without the bits that lend somebody's rights. Without execution by the group its bit means locking. */
export function clearPrivilegeBits(mode: number): number {
  const lent = mode & GROUP_EXECUTE ? SET_USER_ID | SET_GROUP_ID : SET_USER_ID
  return mode & PERMISSIONS & ~lent
}

function hasOwnerChange({ uid, gid }: InodeChanges): boolean {
  return uid !== undefined || gid !== undefined
}
