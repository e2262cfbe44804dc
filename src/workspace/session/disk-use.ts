import { execFile } from 'node:child_process'

const KIBIBYTE = 1024

/** What a tree takes on disk, as far as it can be seen, and however deep it is: no path leads to what is too deep. */
export function diskUse(path: string): Promise<number> {
  return new Promise((resolve) => {
    // It fails where a command removes what it was about to count, and tells the rest all the same.
    execFile('du', ['-sk', '--', path], { env: { PATH: '/usr/bin:/bin' } }, (_error, counted) =>
      resolve((Number.parseInt(counted, 10) || 0) * KIBIBYTE),
    )
  })
}
