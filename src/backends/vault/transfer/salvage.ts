import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectories, toUtimesArgument } from '../../../machine/index.ts'
import { type Loss, Salvage, type SalvagedFile, type StoreHome } from '../../../store/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { PLAIN_PERMISSIONS } from './host-writer.ts'

const PRIVATE_MODE = 0o600
/** Suffix of an incomplete file, so that it is not mistaken for the original. */
const DAMAGED_SUFFIX = '.damaged'

/** Options of `salvage`. */
export interface SalvageOptions {
  /** The checkpoint to read. The current state when absent. */
  readonly at?: string
  readonly signal?: AbortSignal
}

/** Result of `salvage`. */
export interface SalvageReport {
  readonly files: number
  readonly bytes: number
  /** Paths that could not be read, or only in part. */
  readonly lost: readonly Loss[]
}

/**
 * Writes the readable files of a vault into a new or empty directory, and lists the others. A partly readable file is
 * written as `name.damaged`, with zeros for the rest. Files whose directory is lost go to `lost+found`. The store is
 * only read. EEXIST if the directory has entries; ENOENT; EIO if nothing can be read.
 */
export async function salvageVault(
  home: StoreHome,
  vault: string,
  directory: string,
  { at, signal }: SalvageOptions = {},
): Promise<SalvageReport> {
  const salvage = await Salvage.read(home, vault, at)
  createEmptyDirectory(directory)
  const lost: Loss[] = [...salvage.losses]
  const counts = { files: 0, bytes: 0 }
  const directories = listDirectories(salvage.files)
  for (const file of salvage.files) {
    signal?.throwIfAborted()
    const target = join(directory, file.path)
    mkdirSync(dirname(target), { recursive: true })
    try {
      if (directories.has(file.path)) mkdirSync(target, { recursive: true })
      else if (file.inode === undefined) lost.push({ path: file.path, detail: 'the file cannot be read' })
      else await writeEntry(salvage, file, target, { lost, counts })
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error
      lost.push({ path: file.path, detail: error.message })
    }
  }
  return { ...counts, lost }
}

async function writeEntry(
  salvage: Salvage,
  file: SalvagedFile,
  target: string,
  { lost, counts }: { lost: Loss[]; counts: { files: number; bytes: number } },
): Promise<void> {
  const { inode, path } = file
  if (inode === undefined || inode.type === 'other') return
  const { chunks, loss } = await salvage.readContent(file)
  if (loss !== undefined) lost.push({ path, detail: loss })
  if (inode.type === 'symlink') {
    if (loss === undefined) symlinkSync(Buffer.concat(chunks).toString(), target)
    return
  }
  const name = loss === undefined ? target : `${target}${DAMAGED_SUFFIX}`
  const fd = openSync(name, 'wx', PRIVATE_MODE)
  try {
    for (const chunk of chunks) writeFileSync(fd, chunk)
  } catch (error) {
    // Part of a file must not be taken for the whole.
    rmSync(name, { force: true })
    throw error
  } finally {
    closeSync(fd)
  }
  const time = toUtimesArgument(inode.mtime)
  utimesSync(name, time, time)
  chmodSync(name, inode.mode & PLAIN_PERMISSIONS)
  counts.files++
  counts.bytes += inode.size
}

/** Returns the paths of directories, including damaged ones with entries. */
function listDirectories(files: readonly SalvagedFile[]): Set<string> {
  const known = files.filter(({ inode }) => inode?.type === 'directory').map(({ path }) => path)
  return new Set([...known, ...files.map(({ path }) => dirname(path))])
}

function createEmptyDirectory(directory: string): void {
  makeDirectories(directory)
  if (readdirSync(directory).length === 0) return
  const detail = `${directory} is not empty; name a new directory`
  throw new VfsError('EEXIST', directory, { op: 'salvage', detail })
}
