import { chmod, lchown, lutimes, mkdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { factsOf } from './entry-facts.ts'
import type { StagedChange } from './session.ts'

type StagedPut = Extract<StagedChange, { kind: 'put' }>

const NANOS = 1e9
const PERMISSIONS = 0o7777

/** Makes earlier changes on this machine. Directories get their permissions and times when all that is in them is there. */
export class Staging {
  readonly #last: (() => Promise<void>)[] = []

  /** Makes what a change says at a path. What is there of another type goes. */
  async put(change: StagedPut, host: string): Promise<void> {
    const there = factsOf(host)
    const staysDirectory = change.type === 'directory' && there?.isDirectory() === true
    if (there !== undefined && !staysDirectory) await rm(host, { recursive: true })
    if (change.type === 'symlink') await symlink(change.target ?? '', host)
    else if (change.type === 'file') await writeFile(host, change.content?.() ?? [])
    else if (!staysDirectory) await mkdir(host)
    if (change.type === 'directory') this.#last.push(() => dress(change, host))
    else await dress(change, host)
  }

  /** Makes a directory like another, which is all it is made from. */
  async directoryLike(from: string, host: string): Promise<void> {
    await mkdir(host)
    this.#last.push(() => takeOver(from, host))
  }

  /** To be called when everything is put. */
  async finish(): Promise<void> {
    for (const dressDirectory of this.#last.toReversed()) await dressDirectory()
  }
}

/** Earlier changes that put something, in an order in which each finds its parent. */
export function stagedPuts(staged: readonly StagedChange[]): StagedPut[] {
  return staged
    .filter((change) => change.kind === 'put')
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/** Gives a directory the owner, the permissions and the times of another. */
export async function takeOver(from: string, to: string): Promise<void> {
  const { uid, gid, mode, atime, mtime } = await stat(from)
  if (process.getuid?.() === 0) await lchown(to, uid, gid)
  await utimes(to, atime, mtime)
  await chmod(to, mode & PERMISSIONS)
}

async function dress({ type, mode, uid, gid, mtimeNs }: StagedPut, host: string): Promise<void> {
  if (process.getuid?.() === 0 && uid !== undefined && gid !== undefined) await lchown(host, uid, gid)
  const seconds = Number(mtimeNs) / NANOS
  await lutimes(host, seconds, seconds)
  // After the owner, whose change takes set-user-id bits away.
  if (type !== 'symlink') await chmod(host, mode)
}
