import type { Resolution } from '../../backends/vault/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { MergeParams, MergeResolution, TreeRef } from '../../web-api/index.ts'
import type { PendingMerge } from '../../workspace/index.ts'
import { type HomeTrees, parseTree } from '../trees/home-trees.ts'

/** Converts the trees of a request to a merge that can be performed. EINVAL if the two do not fit, ENOENT if one is missing. */
export async function toPendingMerge(trees: HomeTrees, params: MergeParams): Promise<PendingMerge> {
  const [source, into] = [parseTree(params.source), parseTree(params.into)]
  const resolutions = new Map((params.resolutions ?? []).map((each) => [each.path, toResolution(each)]))
  if (source.kind === 'directory' || hasMoment(source) || hasMoment(into))
    throw createMergeError('only a fork or vault as it is now can be merged; name it without a moment')
  if (source.kind === 'vault') {
    if (into.kind !== 'vault') throw createMergeError('a vault is merged into a vault')
    await trees.openVault(source.name)
    await trees.openVault(into.name)
    return { kind: 'vault', sources: [source.name], target: into.name, resolutions }
  }
  const { link } = await trees.findFork(source.name)
  const shared = { sources: [source.name], directory: link.path, resolutions }
  if (into.kind === 'directory') {
    if (into.path !== link.path)
      throw createMergeError(`'${source.name}' is a fork of ${link.path}; merge it into that directory`)
    return { kind: 'apply', target: link.path, ...shared }
  }
  if (into.kind === 'vault') throw createMergeError('a fork of a directory is merged into that directory')
  const target = await trees.findFork(into.name)
  if (target.link.path !== link.path) throw createMergeError('the two forks are of different directories')
  return { kind: 'fork', target: into.name, ...shared }
}

function toResolution(resolution: MergeResolution): Resolution {
  if ('take' in resolution) return resolution.take
  return { bytes: Buffer.from(resolution.text), sides: resolution.digest }
}

function hasMoment(ref: TreeRef): boolean {
  return ref.kind !== 'directory' && ref.at !== undefined
}

export function createMergeError(detail: string): VfsError {
  return new VfsError('EINVAL', '/', { op: 'merge', detail })
}
