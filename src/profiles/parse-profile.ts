import { basename } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { type KeyLines, scanKeyLines } from '../config/index.ts'
import { findNearest } from '../text/index.ts'
import { VfsError } from '../vfs/index.ts'
import { visibilityModes } from '../workspace/index.ts'
import type { Profile, ProfilePath } from './profile.ts'

/** EINVAL for an invalid profile: each problem with the file, the line, and the accepted values. */
class ProfileError extends VfsError {
  constructor(file: string, problems: readonly ProfileProblem[]) {
    const sorted = problems.toSorted((one, other) => one.line - other.line)
    super('EINVAL', file, {
      detail: sorted.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'),
    })
  }
}

/** Invalid entry of a profile. Lines count from 1. */
interface ProfileProblem {
  readonly line: number
  readonly message: string
}

const EXTENSION = '.toml'
const KEYS = ['summary', 'programs', 'args', 'paths', 'env', 'sockets', 'hosts', 'mask'] as const
const PROGRAM = /^[^/\s]+$/
const ARGUMENT = /^[^\0]+$/
const VARIABLE = /^[A-Za-z_]\w*\*?$/
const SOCKET_VARIABLE = /^[A-Za-z_]\w*$/
const HOST = /^(?:\*\.)?(?:\[[\da-fA-F:]+\]|[\p{L}\p{N}_](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?)(?::\d{1,5})?$/u

/**
 * Parses the text of a profile. Throws ProfileError with every problem in it; an unknown key is one.
 * @param file its name without the extension is that of the profile.
 */
export function parseProfile(file: string, text: string, isBuiltIn: boolean): Profile {
  const values = parseToml(file, text)
  const reader = new ProfileReader(scanKeyLines(text))
  const profile = { name: basename(file, EXTENSION), file, isBuiltIn, ...reader.read(values) }
  if (reader.problems.length > 0) throw new ProfileError(file, reader.problems)
  return profile
}

type Keys = readonly (string | number)[]

class ProfileReader {
  readonly problems: ProfileProblem[] = []
  readonly #lines: KeyLines

  constructor(lines: KeyLines) {
    this.#lines = lines
  }

  read(values: Readonly<Record<string, unknown>>): Omit<Profile, 'name' | 'file' | 'isBuiltIn'> {
    for (const key of Object.keys(values)) this.#checkKey(key)
    const { summary = '', mask = false } = values
    if (typeof summary !== 'string') this.#addProblem(['summary'], 'summary must be a text in quotes')
    if (typeof mask !== 'boolean') this.#addProblem(['mask'], 'mask must be true or false')
    return {
      summary: String(summary),
      programs: this.#readList(values, 'programs', PROGRAM, 'the name of a program, without a path'),
      args: this.#readList(values, 'args', ARGUMENT, 'an argument'),
      paths: this.#readPaths(values['paths'] ?? {}),
      env: this.#readList(values, 'env', VARIABLE, 'the name of a variable; a * at its end matches any rest'),
      sockets: this.#readList(
        values,
        'sockets',
        SOCKET_VARIABLE,
        'the name of a variable with the path of a socket',
      ),
      hosts: this.#readList(
        values,
        'hosts',
        HOST,
        'a host such as example.com, *.example.com or example.com:8443',
      ),
      mask: mask === true,
    }
  }

  #readList(
    values: Readonly<Record<string, unknown>>,
    key: (typeof KEYS)[number],
    pattern: RegExp,
    expected: string,
  ): string[] {
    const list: unknown = values[key] ?? []
    if (!Array.isArray(list)) {
      this.#addProblem([key], `${key} must be a list of texts in quotes`)
      return []
    }
    return list.flatMap((entry: unknown, index) => {
      if (typeof entry === 'string' && pattern.test(entry)) return [entry]
      this.#addProblem([key, index], `${key} must have ${expected}, not ${JSON.stringify(entry)}`)
      return []
    })
  }

  #readPaths(values: unknown): ProfilePath[] {
    if (typeof values !== 'object' || values === null || Array.isArray(values)) {
      this.#addProblem(['paths'], 'paths must be a table such as [paths] with ".app/" = "copy"')
      return []
    }
    return Object.entries(values).flatMap(([path, value]: [string, unknown]) => {
      const problem = findPathProblem(path)
      if (problem !== undefined) this.#addProblem(['paths', path], `paths: '${path}' ${problem}`)
      const mode = visibilityModes.find((candidate) => candidate === value)
      if (mode === undefined) {
        const modes = visibilityModes.join(', ')
        this.#addProblem(
          ['paths', path],
          `paths: the mode of '${path}' must be one of ${modes}, not ${JSON.stringify(value)}`,
        )
      }
      if (problem !== undefined || mode === undefined) return []
      return [{ path: path.replace(/\/$/, ''), mode, isDirectory: path.endsWith('/') }]
    })
  }

  #checkKey(key: string): void {
    if (KEYS.some((known) => known === key)) return
    const near = findNearest(key, KEYS)
    const hint = near === undefined ? '' : `; did you mean '${near}'?`
    this.#addProblem([key], `there is no key '${key}'; known: ${KEYS.join(', ')}${hint}`)
  }

  #addProblem(keys: Keys, message: string): void {
    this.problems.push({ line: this.#lines.getLine(keys), message })
  }
}

/** Returns why a path cannot be one of the home; undefined if it can. */
function findPathProblem(path: string): string | undefined {
  if (path.startsWith('/')) return 'is absolute; write it relative to the home directory'
  if (path.startsWith('~')) return 'begins with ~; write it relative to the home directory, without ~'
  const names = path.replace(/\/$/, '').split('/')
  if (names.includes('..')) return "has a '..' component; name the path itself"
  if (names.some((name) => name === '' || name === '.'))
    return 'is not a path of files; name one below the home'
  if (path.includes('\0')) return 'has a NUL character'
  return undefined
}

function parseToml(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [problem = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    throw new ProfileError(file, [{ line: error.line, message: `not valid TOML: ${problem}` }])
  }
}
