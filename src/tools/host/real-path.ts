import { readlink, realpath } from 'node:fs/promises'
import { basename, child, dirname, resolve } from '../../vfs/index.ts'

const MAX_HOPS = 40

/**
 * Resolves every link of a host path, whether the target exists or not: a broken link resolves to the file that a
 * write through it would create. Does not check access, and
 * never fails: a part that cannot be resolved stays as it is, and opening it fails.
 */
export function resolveRealPath(path: string): Promise<string> {
  return followLinks(path, MAX_HOPS)
}

async function followLinks(path: string, hops: number): Promise<string> {
  const real = await orUndefined(realpath(path))
  if (real !== undefined || path === '/') return real ?? path
  const directory = await followLinks(dirname(path), hops)
  const here = child(directory, basename(path))
  const target = hops > 0 ? await orUndefined(readlink(here)) : undefined
  return target === undefined ? here : followLinks(resolve(directory, target), hops - 1)
}

/** Returns the result of a call, or undefined if it fails. */
async function orUndefined(call: Promise<string>): Promise<string | undefined> {
  try {
    return await call
  } catch {
    return undefined
  }
}
