import { escapeName } from '../../text/index.ts'

const REASON =
  'a fork holds no pipes, sockets and devices; no names or links that are not UTF-8; no names reserved for apply; no paths that are too long; no changes of files that you may not read; and no removal of a directory that contains any of these'

/** Formats the paths that a fork cannot keep: one line, or none without such paths. */
export function formatLeftOut(paths: readonly string[] = []): string[] {
  return paths.length === 0 ? [] : [`not kept: ${paths.map(escapeName).join(', ')}; ${REASON}`]
}
