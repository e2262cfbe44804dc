import type { GitRefChange, GitSummary } from './git-summary.ts'

/** Branches and tags that are named; the others are counted. */
const MAX_NAMED = 5

/**
 * Describes what git did: `2 commits on feat, main moved, feat checked out`, or the number of changed files if no ref
 * changed.
 */
export function describeGitSummary({ refs, files, checkedOut }: GitSummary): string {
  if (refs.length + checkedOut.length === 0) return `${count(files, 'file')} below .git`
  const more = refs.length - MAX_NAMED
  const named = refs.slice(0, MAX_NAMED).map(describeRef)
  const switched = checkedOut.slice(0, MAX_NAMED).map((name) => `${name} checked out`)
  return [...named, ...(more > 0 ? [`${count(more, 'more ref')}`] : []), ...switched].join(', ')
}

function describeRef({ name, kind, commits }: GitRefChange): string {
  return commits === 0 ? `${name} ${kind}` : `${count(commits, 'commit')} on ${name}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
