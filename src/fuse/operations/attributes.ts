import type { InodeAttributes, InodeChanges } from '../inode-fs.ts'
import { putAttributes, type SetAttributes, setAttributesOf } from '../protocol/index.ts'
import type { Operation } from './operation.ts'

const SET_USER_ID = 0o4000
const SET_GROUP_ID = 0o2000
const GROUP_EXECUTE = 0o010
const PERMISSIONS = 0o7777
const FORMAT = 0o170000
const DIRECTORY = 0o040000

export const getattr: Operation = (request, reply, { attributes, validity }) => {
  putAttributes(reply, request.node, attributes.of(request.node), validity)
}

export const setattr: Operation = (request, reply, { attributes, validity }) => {
  const { node } = request
  const asked = setAttributesOf(request)
  const mode = modeAfter(asked, () => attributes.of(node))
  const changes = mode === undefined ? asked.changes : { ...asked.changes, mode }
  putAttributes(reply, node, attributes.set(node, changes), validity)
}

/** The mode that a change leaves behind beside what it asks for; undefined if that is the one there is. */
function modeAfter(
  { changes, killsPrivileges }: SetAttributes,
  attributes: () => InodeAttributes,
): number | undefined {
  if (changes.mode !== undefined) return undefined
  if (!killsPrivileges && !isNewOwner(changes)) return undefined
  return keptMode(attributes().mode)
}

/** The permissions a file is left with that may not keep its privileges; undefined if that changes nothing. */
export function keptMode(mode: number): number | undefined {
  const kept = withoutPrivileges(mode)
  return (mode & FORMAT) === DIRECTORY || kept === (mode & PERMISSIONS) ? undefined : kept
}

/** Permissions without the bits that lend somebody's rights. Without execution by the group its bit means locking. */
export function withoutPrivileges(mode: number): number {
  const lent = mode & GROUP_EXECUTE ? SET_USER_ID | SET_GROUP_ID : SET_USER_ID
  return mode & PERMISSIONS & ~lent
}

function isNewOwner({ uid, gid }: InodeChanges): boolean {
  return uid !== undefined || gid !== undefined
}
