import type { Coroutine } from './coroutine.ts'
import { type FsContext, resolvePath, withNodeErrors } from './fs-context.ts'
import type { OpenNodeFile } from './open-node-file.ts'
import { parsePath } from './parse-arguments.ts'

/** An operation of Node's fs without its callback. Arguments are untyped: each operation validates its own. */
export type FsOperation<T = unknown> = (context: FsContext, ...args: unknown[]) => Coroutine<T>

/** Defines an operation on one path. */
export function definePathOperation<T>(
  syscall: string,
  run: (context: FsContext, path: string, ...rest: unknown[]) => Coroutine<T>,
): FsOperation<T> {
  return function* (context, given, ...rest) {
    const call = { syscall, path: parsePath(given) }
    const steps = runWithPath(resolvePath(context, call.path), (path) => run(context, path, ...rest))
    return yield* withNodeErrors(context, call, steps)
  }
}

/** Defines an operation on two paths. The operation resolves the second, since the order of failures matters. */
export function defineTwoPathOperation<T>(
  syscall: string,
  run: (context: FsContext, from: string, to: Coroutine<string>, ...rest: unknown[]) => Coroutine<T>,
  names: readonly [string, string] = ['src', 'dest'],
): FsOperation<T> {
  return function* (context, first, second, ...rest) {
    const call = { syscall, path: parsePath(first, names[0]), dest: parsePath(second, names[1]) }
    const steps = runWithPath(resolvePath(context, call.path), (from) =>
      run(context, from, resolvePath(context, call.dest), ...rest),
    )
    return yield* withNodeErrors(context, call, steps)
  }
}

/** Defines an operation on an open file. */
export function defineFileOperation<T>(
  syscall: string,
  run: (context: FsContext, file: OpenNodeFile, ...rest: unknown[]) => Coroutine<T>,
): FsOperation<T> {
  return function* (context, fd, ...rest) {
    const file = context.descriptors.get(fd, syscall)
    return yield* withNodeErrors(context, { syscall }, run(context, file, ...rest))
  }
}

function* runWithPath<T>(path: Coroutine<string>, run: (path: string) => Coroutine<T>): Coroutine<T> {
  return yield* run(yield* path)
}
