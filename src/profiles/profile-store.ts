import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../machine/index.ts'
import { findNearest } from '../text/index.ts'
import { VfsError } from '../vfs/index.ts'
import { parseProfile } from './parse-profile.ts'
import type { Profile } from './profile.ts'

/** Name of the directory with profiles, in the package and in a home. */
const DIRECTORY = 'profiles'
const FILE = /^([A-Za-z0-9][\w.-]*)\.toml$/

/** The text of a profile that is not parsed yet. */
interface ProfileFile {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly isBuiltIn: boolean
}

/** The profiles of the package, and those of a home, which replace the ones of the same name. */
export class ProfileStore {
  readonly #files: ReadonlyMap<string, ProfileFile>

  private constructor(files: readonly ProfileFile[]) {
    this.#files = new Map(files.map((file) => [file.name, file]))
  }

  /** Reads all files; each is parsed when it is used. */
  static read(packageRoot: string, home: string): ProfileStore {
    return new ProfileStore([
      ...readFiles(join(packageRoot, DIRECTORY), true),
      ...readFiles(join(home, DIRECTORY), false),
    ])
  }

  /** Lists all profiles, sorted by name. Throws ProfileError if a file is invalid. */
  list(): Profile[] {
    return [...this.#files.keys()].sort().map((name) => this.get(name))
  }

  /** Returns a profile. Throws ENOENT with the names of all if there is none, ProfileError if its file is invalid. */
  get(name: string): Profile {
    const found = this.#files.get(name)
    if (found !== undefined) return parseProfile(found.file, found.text, found.isBuiltIn)
    const known = [...this.#files.keys()].sort()
    const near = findNearest(name, known)
    const hint = near === undefined ? '' : `; did you mean '${near}'?`
    const detail = `there is no profile '${name}'; known: ${known.join(', ')}${hint}`
    throw new VfsError('ENOENT', name, { op: 'profile', detail })
  }

  /**
   * Returns the profile whose programs include this one; one of the home comes before one of the package. Throws
   * ProfileError if a file that has the name is invalid.
   */
  findByProgram(program: string): Profile | undefined {
    const quoted = JSON.stringify(program)
    // Only files in which the name occurs are parsed: a command waits for this.
    const candidates = [...this.#files.values()]
      .filter(({ text }) => text.includes(quoted) || text.includes(`'${program}'`))
      .map(({ file, text, isBuiltIn }) => parseProfile(file, text, isBuiltIn))
      .filter(({ programs }) => programs.includes(program))
    return candidates.find(({ isBuiltIn }) => !isBuiltIn) ?? candidates[0]
  }
}

function readFiles(directory: string, isBuiltIn: boolean): ProfileFile[] {
  return listNames(directory).flatMap((entry) => {
    const name = FILE.exec(entry)?.[1]
    const file = join(directory, entry)
    return name === undefined ? [] : [{ name, file, text: readFileSync(file, 'utf8'), isBuiltIn }]
  })
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
