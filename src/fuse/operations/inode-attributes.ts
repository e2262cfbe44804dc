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
  const setting = parseSetAttributes(request)
  const mode = findModeAfter(setting, () => attributes.get(node))
  const changes = mode === undefined ? setting.changes : { ...setting.changes, mode }
  putAttributes(reply, node, attributes.set(node, changes), validity)
}

/** Returns the mode that a change of owner or size implies; undefined if the mode stays, or if the change sets it. */
function findModeAfter(
  { changes, killsPrivileges }: SetAttributes,
  attributes: () => InodeAttributes,
): number | undefined {
  if (changes.mode !== undefined) return undefined
  if (!killsPrivileges && !hasOwnerChange(changes)) return undefined
  return findReducedMode(attributes().mode)
}

/** Returns the permissions without privilege bits; undefined if that changes nothing. */
export function findReducedMode(mode: number): number | undefined {
  const reduced = clearPrivilegeBits(mode)
  return (mode & FORMAT) === DIRECTORY || reduced === (mode & PERMISSIONS) ? undefined : reduced
}

/** Clears set-user-id and set-group-id. Without group execution, the latter means mandatory locking and stays. */
export function clearPrivilegeBits(mode: number): number {
  const privileges = mode & GROUP_EXECUTE ? SET_USER_ID | SET_GROUP_ID : SET_USER_ID
  return mode & PERMISSIONS & ~privileges
}

function hasOwnerChange({ uid, gid }: InodeChanges): boolean {
  return uid !== undefined || gid !== undefined
}
