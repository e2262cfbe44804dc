import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, PRIVATE_FILE_MODE, readFileIfPresent } from '../../../machine/index.ts'
import { type CarriedFile, LayerFile, type LayerLocation } from '../../isolation/index.ts'

const LIST = 'carried.json'

/** A file of the home that a killed command may have changed. */
export interface LeftFile extends CarriedFile {
  /** True if the real file existed when the command started. */
  readonly existed: boolean
}

/** The files that a command changes in its layers, for the process that carries them if this one is killed. */
interface CarriedList {
  /** Directory of the session, which another process renames. */
  readonly directory: string
  readonly files: readonly (Omit<LeftFile, 'layer'> & { readonly layer: LayerLocation })[]
}

/** Records the files of a command in the directory of its session. */
export function writeCarriedList(directory: string, carried: readonly CarriedFile[]): void {
  if (carried.length === 0) return
  const files = carried.map(({ layer, ...file }) => ({
    ...file,
    layer: layer.describe(),
    existed: existsSync(file.host),
  }))
  const list: CarriedList = { directory, files }
  try {
    writeFileSync(join(directory, LIST), JSON.stringify(list), { mode: PRIVATE_FILE_MODE })
  } catch (error) {
    // A command that only reads works on a full disk, too.
    if (!isErrno(error, 'ENOSPC', 'EDQUOT')) throw error
  }
}

export function hasCarriedList(directory: string): boolean {
  return existsSync(join(directory, LIST))
}

/** Reads the files of a command whose process was killed; none if they were carried, or the list was cut off. */
export function readCarriedList(directory: string): LeftFile[] {
  const text = readFileIfPresent(join(directory, LIST))
  const list = text === undefined ? undefined : parseList(text)
  const moveRoot = (root: string) =>
    root.startsWith(`${list?.directory}/`) ? directory + root.slice(list?.directory.length) : root
  return (list?.files ?? []).map(({ layer: { root, covered, path }, ...file }) => ({
    ...file,
    layer: new LayerFile(moveRoot(root), covered, path),
  }))
}

export function removeCarriedList(directory: string): void {
  rmSync(join(directory, LIST), { force: true })
}

function parseList(text: string): CarriedList | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
