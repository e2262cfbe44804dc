/** Names that models use for an argument though the words have nothing in common. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  path: ['file', 'filename', 'uri', 'url', 'directory', 'dir', 'folder', 'location', 'root', 'cwd'],
  src: ['source', 'from', 'old', 'path'],
  dst: ['destination', 'dest', 'to', 'target', 'new'],
  content: ['text', 'contents', 'data', 'body', 'newtext', 'newcontent'],
  find: ['oldstring', 'oldstr', 'oldtext', 'search'],
  replace: ['newstring', 'newstr', 'newtext', 'replacement', 'with'],
  operation: ['command', 'op', 'action', 'mode'],
  pattern: ['regex', 'regexp', 'query', 'search', 'glob'],
  lines: ['n', 'count', 'limit', 'num'],
  start: ['line', 'first', 'insertline', 'offset', 'from'],
  end: ['last', 'to'],
  all: ['global', 'replaceall'],
  name: ['checkpoint', 'title', 'label'],
  command: ['cmd', 'shell', 'script', 'line', 'bash', 'code', 'program'],
  argv: ['args', 'arguments'],
  cwd: ['workdir', 'workingdirectory', 'directory', 'dir', 'path'],
  stdin: ['input'],
  timeout_seconds: ['timeoutms'],
  fork: ['name', 'branch', 'source', 'from'],
}

/** Suggests the argument that another name means: `file_path` is `path`, `lineStart` is `start`. */
export function suggestArgument(given: string, names: readonly string[]): string | undefined {
  const word = foldName(given)
  return (
    names.find((name) => foldName(name) === word) ??
    names.find((name) => ALIASES[name]?.includes(word)) ??
    names.find((name) => isSimilar(word, foldName(name))) ??
    names.find((name) => word.includes(foldName(name)) || (word.length > 2 && foldName(name).includes(word)))
  )
}

function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** True if the words have the same letters but for one, in whatever order. */
function isSimilar(word: string, other: string): boolean {
  if (Math.abs(word.length - other.length) > 1) return false
  const rest = [...other]
  for (const letter of word) {
    const index = rest.indexOf(letter)
    if (index !== -1) rest.splice(index, 1)
  }
  return rest.length <= 1 && word.length > 2
}
