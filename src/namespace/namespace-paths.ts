import type { CommandReport } from '../tools/index.ts'
import { join, type PathChange } from '../vfs/index.ts'

/** Converts a path of a mounted file system to one of the namespace. */
export function toNamespacePath(mountpoint: string, path: string): string {
  return join(mountpoint, path.slice(1))
}

/** Converts the paths of a change to those of the namespace. */
export function toNamespaceChange(mountpoint: string, change: PathChange): PathChange {
  const { path, from } = change
  return {
    ...change,
    path: toNamespacePath(mountpoint, path),
    ...(from !== undefined && { from: toNamespacePath(mountpoint, from) }),
  }
}

/** Converts the paths of a command's report to those of the namespace. */
export function toNamespaceReport(mountpoint: string, report: CommandReport): CommandReport {
  const { changes, directories = [], leftOut } = report
  return {
    ...report,
    changes: changes.map((change) => toNamespaceChange(mountpoint, change)),
    directories: directories.map((directory) => ({
      ...directory,
      path: toNamespacePath(mountpoint, directory.path),
    })),
    leftOut: leftOut.map((left) => toNamespacePath(mountpoint, left)),
  }
}
