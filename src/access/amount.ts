import { type CallContext, type FileSystem, isVfsError, type Stat } from '../vfs/index.ts'

/** Files and bytes at a path. Links count as files without bytes. */
export interface Amount {
  readonly bytes: number
  readonly files: number
}

export const NO_AMOUNT: Amount = { bytes: 0, files: 0 }

export function addAmounts(one: Amount, other: Amount): Amount {
  return { bytes: one.bytes + other.bytes, files: one.files + other.files }
}

export function subtractAmounts(one: Amount, other: Amount): Amount {
  return { bytes: one.bytes - other.bytes, files: one.files - other.files }
}

/** Counts a path with everything below it. Zero if the path does not exist. */
export async function measureAmount(fs: FileSystem, path: string, ctx?: CallContext): Promise<Amount> {
  const stat = await statIfPresent(fs, path, ctx)
  if (stat === null) return NO_AMOUNT
  if (stat.type !== 'directory') return toAmount(stat)
  let total = NO_AMOUNT
  for await (const entry of fs.walk(path, {}, ctx)) total = addAmounts(total, toAmount(entry.stat))
  return total
}

function toAmount({ type, size }: Stat): Amount {
  return { bytes: type === 'file' ? size : 0, files: 1 }
}

async function statIfPresent(fs: FileSystem, path: string, ctx?: CallContext): Promise<Stat | null> {
  try {
    return await fs.stat(path, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return null
    throw error
  }
}
