import { pathText } from './arguments.ts'
import type { OpenFile } from './open-file.ts'
import { located, type Site, told } from './site.ts'
import type { Steps } from './steps.ts'

/** An operation of Node's fs without its callback. Arguments are what anybody passes: each operation looks at its own. */
export type Operation<T = unknown> = (site: Site, ...args: unknown[]) => Steps<T>

/** An operation on one path. */
export function onPath<T>(
  syscall: string,
  run: (site: Site, path: string, ...rest: unknown[]) => Steps<T>,
): Operation<T> {
  return function* (site, given, ...rest) {
    const asked = { syscall, path: pathText(given) }
    const steps = within(located(site, asked.path), (path) => run(site, path, ...rest))
    return yield* told(site, asked, steps)
  }
}

/** An operation on two paths. The second is looked up by the operation: which failure comes first is part of the contract. */
export function onTwoPaths<T>(
  syscall: string,
  run: (site: Site, from: string, to: Steps<string>, ...rest: unknown[]) => Steps<T>,
  names: readonly [string, string] = ['src', 'dest'],
): Operation<T> {
  return function* (site, first, second, ...rest) {
    const asked = { syscall, path: pathText(first, names[0]), dest: pathText(second, names[1]) }
    const steps = within(located(site, asked.path), (from) =>
      run(site, from, located(site, asked.dest), ...rest),
    )
    return yield* told(site, asked, steps)
  }
}

/** An operation on an open file. */
export function onFile<T>(
  syscall: string,
  run: (site: Site, file: OpenFile, ...rest: unknown[]) => Steps<T>,
): Operation<T> {
  return function* (site, fd, ...rest) {
    const file = site.descriptors.get(fd, syscall)
    return yield* told(site, { syscall }, run(site, file, ...rest))
  }
}

function* within<T>(path: Steps<string>, run: (path: string) => Steps<T>): Steps<T> {
  return yield* run(yield* path)
}
