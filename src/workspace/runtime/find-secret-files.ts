import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { isErrno } from '../../machine/index.ts'
import type { SecretFiles } from '../../secrets/index.ts'
import { isWithin } from '../../vfs/index.ts'

/** Directories that are not searched: they hold downloaded packages, and Git's own copies. */
const SKIPPED = new Set(['node_modules', '.git'])
/** Number of directories that are read before other work may run. */
const YIELD_EVERY = 200

/** Reports whether a path is in a directory that is not searched. */
export function isSkipped(path: string): boolean {
  return path.split('/').some((name) => SKIPPED.has(name))
}

interface FoundFiles {
  /** Paths below the root. */
  readonly inside: readonly string[]
  /** Real paths of files elsewhere. */
  readonly outside: readonly string[]
}

/** Finds the secret files of a project, under each of their names, and those elsewhere to which its links lead. */
export async function findSecretFiles(root: string, files: SecretFiles): Promise<FoundFiles> {
  const [inside, outside] = [new Set<string>(), new Set<string>()]
  const others: string[] = []
  await walkFiles(root, (path, entry) => {
    if (!files.includes(path)) others.push(path)
    else if (entry.isSymbolicLink()) addTarget(root, path, inside, outside)
    else inside.add(path)
  })
  return { inside: [...inside, ...findOtherNames(root, inside, others)], outside: [...outside] }
}

/** Adds the file to which a link leads. */
function addTarget(root: string, path: string, inside: Set<string>, outside: Set<string>): void {
  try {
    const target = realpathSync(root + path)
    if (isWithin(target, root)) inside.add(target.slice(root.length))
    else outside.add(target)
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ELOOP', 'EACCES', 'ENOTDIR')) throw error
  }
}

/** Finds the other names of files that have several. */
function findOtherNames(root: string, secret: ReadonlySet<string>, others: readonly string[]): string[] {
  const linked = [...secret].map((path) => lstatSync(root + path, { throwIfNoEntry: false }))
  const inodes = new Set(
    linked.flatMap((found) => (found && found.nlink > 1 ? [`${found.dev}:${found.ino}`] : [])),
  )
  if (inodes.size === 0) return []
  return others.filter((path) => {
    const found = lstatSync(root + path, { throwIfNoEntry: false })
    return found !== undefined && inodes.has(`${found.dev}:${found.ino}`)
  })
}

/** Visits the files and links of a project. A generator would take longer than the visits. */
async function walkFiles(root: string, visit: (path: string, entry: Dirent) => void): Promise<void> {
  const directories = ['']
  for (let count = 1; directories.length > 0; count++) {
    const directory = directories.pop() ?? ''
    for (const entry of listEntries(root + directory)) {
      const path = `${directory}/${entry.name}`
      if (!entry.isDirectory()) visit(path, entry)
      else if (!SKIPPED.has(entry.name)) directories.push(path)
    }
    if (count % YIELD_EVERY === 0) await setImmediate()
  }
}

function listEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if (isErrno(error, 'EACCES', 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
