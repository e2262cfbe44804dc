import type { Capability, FileSystem } from '../file-system.ts'
import { isForkable } from '../protocols.ts'

/** Capabilities for every mount: native where the mount has them, composed otherwise. */
const OWN_CAPABILITIES: readonly Capability[] = ['search', 'hash', 'diff']
const OWN_WRITE_CAPABILITIES: readonly Capability[] = ['rename', 'append']

/** Capabilities that depend on the mount of the path. */
const DELEGATED_CAPABILITIES: readonly Capability[] = ['link', 'hardlink', 'setattr', 'open']

/** Capabilities of a mount that the table does not pass on. */
const MOUNT_ONLY_CAPABILITIES: ReadonlySet<Capability> = new Set(['version', 'watch'])

/** Combines the capabilities that every mount has, those of the table itself, and those of single mounts. */
export function combineCapabilities(all: readonly FileSystem[]): ReadonlySet<Capability> {
  const [first, ...rest] = all.map(({ capabilities }) => capabilities)
  const shared = rest.reduce((common, next) => common.intersection(next), first ?? new Set(['read']))
  const writable = all.some(({ capabilities }) => capabilities.has('write')) ? OWN_WRITE_CAPABILITIES : []
  const forkable: readonly Capability[] = all.every(canBeForked) ? ['fork'] : []
  const any = DELEGATED_CAPABILITIES.filter((capability) => all.some((fs) => fs.capabilities.has(capability)))
  const own = new Set([...OWN_CAPABILITIES, ...writable, ...forkable, ...any])
  return shared.difference(MOUNT_ONLY_CAPABILITIES).union(own)
}

/** True if a fork of the table can fork the file system or share it. */
export function canBeForked(fs: FileSystem): boolean {
  return isForkable(fs) || !fs.capabilities.has('write')
}
