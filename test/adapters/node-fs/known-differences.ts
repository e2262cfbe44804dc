import type { Stats } from 'node:fs'
import type { NodeFs } from '../../../src/adapters/node-fs/index.ts'
import { ancestors } from '../../../src/vfs/index.ts'
import type { FsStep } from './calls.ts'
import { isPlace, type Subject } from './outcome.ts'

interface Asked {
  readonly fs: NodeFs
  /** Real paths of the first and second argument; '' if there is none. */
  readonly path: string
  readonly target: string
  readonly root: string
  readonly isSync: boolean
}

interface Difference {
  readonly calls: readonly string[]
  readonly reason: string
  readonly applies: (asked: Asked) => boolean
}

/** Intended differences from Node's fs. */
const differences: readonly Difference[] = [
  {
    calls: [
      'open',
      'writeFile',
      'appendFile',
      'symlink',
      'link',
      'rename',
      'copyFile',
      'mkdir',
      'unlink',
      'rmdir',
    ],
    reason:
      'a file named with a slash behind it: both refuse, with EISDIR, ENOTDIR or EEXIST, all of them true',
    applies: ({ path, target }) => path.endsWith('/') || target.endsWith('/'),
  },
  {
    calls: ['realpath'],
    reason: "two of Node's three cut `missing/..` and `file/` as text; the kernel does not",
    applies: ({ path }) => /\.\.|\/$/.test(path),
  },
  {
    calls: ['cp'],
    reason:
      "Node's synchronous one is another program with other failures, and all three cut `..` and `file/` as text",
    applies: ({ isSync, path, target }) => isSync || [path, target].some((at) => /\.\.|\/$/.test(at)),
  },
  {
    calls: ['cp'],
    reason: 'Node looks at both places at the same time, and tells of whichever refused first',
    applies: ({ fs, path, target }) =>
      refusalOf(fs, path) !== undefined && (refusalOf(fs, target) ?? 'ENOENT') !== 'ENOENT',
  },
  {
    calls: ['mkdir'],
    reason:
      'Node makes `missing` for `missing/../b`; for a link on the way that leads nowhere its three have two codes',
    applies: ({ fs, root, path }) => path.includes('..') || crossesBrokenLink(fs, root, path),
  },
  {
    calls: ['rm'],
    reason:
      "with `force`, Node's synchronous one takes what lies below a file for missing, the others do not",
    applies: ({ fs, path, isSync }) => isSync && statIfPresent(fs, path) === undefined,
  },
  {
    calls: ['rename'],
    reason: 'a name may not be `..`: the kernel says EBUSY to that, whatever else is wrong with the move',
    applies: ({ path, target }) => path.endsWith('..') || target.endsWith('..'),
  },
  {
    calls: ['rename'],
    reason: 'of `a/b` to `a`: both refuse, the kernel with ENOTEMPTY and ours with EISDIR where `b` is none',
    applies: ({ path, target }) => path.startsWith(`${target}/`),
  },
  {
    calls: ['rm'],
    reason: 'of `a/..`, Node removes all that is in it, `a` as well, and then finds no way to the rest',
    applies: ({ path }) => path.includes('..'),
  },
  {
    calls: ['copyFile'],
    reason: 'of a directory it fails, and has removed what was at the target',
    applies: ({ fs, path }) => statIfPresent(fs, path)?.isDirectory() === true,
  },
]

/** True if a step has an intended difference. */
export function differsKnowingly({ fs, root }: Subject, step: FsStep): boolean {
  const [name, args] = 'open' in step ? ['open', step.open] : [step.name, step.args]
  const [path = '', target = ''] = args.slice(0, 2).map((place) => (isPlace(place) ? root + place.at : ''))
  const asked = { fs, root, path, target, isSync: step.face === 'sync' }
  return differences.some(({ calls, applies }) => calls.includes(name) && applies(asked))
}

function crossesBrokenLink(fs: NodeFs, root: string, path: string): boolean {
  const inside = ancestors(path).filter((at) => at.startsWith(`${root}/`))
  return inside.some((at) => isLink(fs, at) && statIfPresent(fs, at) === undefined)
}

function isLink(fs: NodeFs, path: string): boolean {
  return refusalOf(fs, path) === undefined && fs.lstatSync(path).isSymbolicLink()
}

/** Returns the error for a path that cannot be inspected; undefined otherwise. */
function refusalOf(fs: NodeFs, path: string): unknown {
  try {
    fs.lstatSync(path)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}

function statIfPresent(fs: NodeFs, path: string): Stats | undefined {
  try {
    return fs.statSync(path)
  } catch {
    return undefined
  }
}
