import type { CallContext } from '../file-system.ts'
import { diff } from '../helpers/diff.ts'
import type { PathChange } from '../protocols.ts'
import type { MountPoints } from './mount-points.ts'

/** Lists the changes between two tables with equal mount points, using each mount's own diff. */
export async function* diffMounts(
  before: MountPoints,
  after: MountPoints,
  ctx?: CallContext,
): AsyncGenerator<PathChange> {
  const changes: PathChange[] = []
  for (const mount of after.list()) {
    const old = before.get(mount.path)
    // A mount that both tables share has no changes.
    if (old === undefined || old.fs === mount.fs) continue
    for await (const change of mount.translateStream(diff(old.fs, mount.fs, '/', ctx))) {
      const path = mount.toOuterPath(change.path)
      // Paths that another mount covers are not visible.
      if (after.route(path) === mount && !after.isImplied(path)) changes.push({ ...change, path })
    }
  }
  yield* changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}
