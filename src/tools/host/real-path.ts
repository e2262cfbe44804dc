import { readlink, realpath } from 'node:fs/promises'
import { basename, child, dirname, resolve } from '../../vfs/index.ts'

const MAX_HOPS = 40

/**
 * Where a path of this machine leads once every link is followed, whether something is there or not: a link to
 * nothing leads to where a write through it would make a file. Says nothing about what may be done there, and
 * never fails: what cannot be followed stays as it is, for whoever opens it to complain.
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

/** What the system answers, or undefined if it fails. */
async function orUndefined(call: Promise<string>): Promise<string | undefined> {
  try {
    return await call
  } catch {
    return undefined
  }
}
