import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  countPieces,
  diffLines,
  type FileHistory,
  readPiece,
  type JournaledVersion as StoredVersion,
  type StoreHome,
} from '../../store/index.ts'
import { type Caller, type Version, VfsError } from '../../vfs/index.ts'

/** A version of a file with its author. */
export interface FileVersion extends Version {
  /** The operation that created it: a write, an append, a patch, a revert. */
  readonly op: string
  readonly caller?: Caller
  /** The tool call that created it. */
  readonly trace?: string
}

/** A line of a file with the version that added it. */
export interface BlameLine extends Omit<FileVersion, 'size' | 'op'> {
  /** From 1. */
  readonly line: number
  readonly text: string
}

/** Yields the versions of a file, the newest first, then those of earlier files at the same path. */
export async function* listVersions(home: StoreHome, history: FileHistory): AsyncGenerator<StoredVersion> {
  const { reader } = home
  const seen = new Set<number>()
  let from = history.newest + 1
  /** The oldest version of the current file. */
  let oldest = from
  let [next, end] = [await reader.run(() => history.findCurrentVersion()), from]
  for (let isCurrent = true; ; isCurrent = false) {
    for (let seq = next; seq !== undefined && !seen.has(seq); ) {
      const [at, until] = [seq, end]
      const version = await reader.run(() => history.findVersion(at, until))
      seen.add(at)
      if (isCurrent) oldest = Math.min(oldest, at)
      if (version !== undefined && (await reader.run(() => history.isReadable(version)))) yield version
      seq = version?.before ?? undefined
    }
    next = undefined
    while (next === undefined) {
      const at = from
      const found = await reader.run(() => history.findEarlierFile(at, seen))
      if (found.seq === 0) return
      // Versions that a restore undid do not belong to the current file.
      from = found.isRestore ? Math.min(found.seq, oldest) : found.seq
      if (found.file !== undefined) ({ version: next, end } = found.file)
    }
  }
}

/** Returns the version with a name. ENOENT. */
export async function findVersion(
  home: StoreHome,
  history: FileHistory,
  path: string,
  name: string,
): Promise<StoredVersion> {
  for await (const version of listVersions(home, history))
    if (String(version.entry.seq) === name) return version
  const detail = `'${path}' has no version ${name}; list its versions`
  throw new VfsError('ENOENT', path, { op: 'readVersion', detail })
}

/** Yields the content of a version in pieces. */
export async function* readVersionContent(
  { reader, blobs, session }: StoreHome,
  history: FileHistory,
  version: StoredVersion,
): AsyncGenerator<Uint8Array> {
  await session.beginRead()
  const content = await reader.run(() => history.getContent(version))
  // The journal row may be pruned during the read.
  const hold = session.hold({ listStoredBlobs: () => content.chunks?.map(({ blob }) => blob) ?? [] })
  try {
    for (let index = 0; index < countPieces(content); index++) {
      const piece = await reader.run(() => readPiece(content, index, blobs))
      if (piece.length > 0) yield new Uint8Array(piece)
    }
  } finally {
    hold.release()
  }
}

/** Returns each line of a file with the version that added it, computed from the oldest version on. */
export async function blameFile(home: StoreHome, history: FileHistory): Promise<BlameLine[]> {
  const current = await home.reader.run(() => history.findCurrentVersion())
  if (current === undefined) return []
  const versions: StoredVersion[] = []
  for (let seq: number | null = current; seq !== null; ) {
    const at: number = seq
    const version: StoredVersion | undefined = await home.reader.run(() => history.findVersion(at))
    if (version !== undefined && (await home.reader.run(() => history.isReadable(version))))
      versions.push(version)
    seq = version?.before ?? null
  }
  let lines: { text: string; version: StoredVersion }[] = []
  for (const version of versions.toReversed()) {
    // Comparing two versions of a large file takes long, and other work of the process waits.
    await nextTurn()
    const text = Buffer.concat(await Array.fromAsync(readVersionContent(home, history, version))).toString()
    lines = attributeLines(lines, splitLines(text), version)
  }
  return lines.map(({ text, version }, index) => {
    const { size: _size, op: _op, ...attribution } = toFileVersion(version)
    return { line: index + 1, text, ...attribution }
  })
}

export function toFileVersion({ entry, operation, size }: StoredVersion): FileVersion {
  const { seq, time, caller, trace } = entry
  return {
    version: String(seq),
    time: new Date(time),
    size,
    op: operation.op,
    ...(caller !== undefined && { caller }),
    ...(trace !== undefined && { trace }),
  }
}

function attributeLines(
  before: readonly { text: string; version: StoredVersion }[],
  after: readonly string[],
  version: StoredVersion,
): { text: string; version: StoredVersion }[] {
  const result: { text: string; version: StoredVersion }[] = []
  let [oldAt, newAt] = [0, 0]
  const keepUntil = (end: number) => {
    for (; newAt < end; newAt++, oldAt++) {
      const kept = before[oldAt]
      if (kept !== undefined) result.push(kept)
    }
  }
  const old = before.map(({ text }) => text)
  for (const { oldStart, oldLines, newStart, newLines } of diffLines(old, after)) {
    keepUntil(newStart)
    oldAt = oldStart + oldLines.length
    newAt = newStart + newLines.length
    for (const text of newLines) result.push({ text, version })
  }
  keepUntil(after.length)
  return result
}

function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
