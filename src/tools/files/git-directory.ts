/**
 * Reports whether a path below the searched directory is in a `.git`, or is one. Searches leave these out, as ripgrep
 * does: objects and sample hooks are nothing that an agent looks for.
 */
export function isInGitDirectory(path: string, searched: string): boolean {
  return path.slice(searched.length).split('/').includes('.git')
}
