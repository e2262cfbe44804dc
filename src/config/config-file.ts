import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError } from 'smol-toml'
import { isErrno, makePrivateDirectory, makePrivateFile } from '../machine/index.ts'
import { VfsError } from '../vfs/index.ts'
import { type Config, durabilities, engines } from './config.ts'
import { ConfigError } from './config-error.ts'
import { type KeyLines, scanKeyLines } from './key-lines.ts'
import { findReservedPurpose } from './reserved-vaults.ts'
import { setTopLevelValue } from './set-value.ts'

const CONFIG_FILE = 'config.toml'
/** Age from which a file is cached. A younger one may change again without new times: the kernel's clock is coarse. */
const MIN_CACHED_AGE_MS = 1000
const MAX_CACHED_FILES = 16

/** Cache of files: a daemon reads the configuration for each process. */
const filesRead = new Map<string, { readonly version: string; readonly file: ConfigFile }>()

/** A home's configuration with the line of each setting. */
export class ConfigFile {
  readonly file: string
  readonly config: Config
  readonly #lines: KeyLines

  private constructor(file: string, config: Config, lines: KeyLines) {
    this.file = file
    this.config = config
    this.#lines = lines
  }

  /** Reads and checks the file of a home; a missing one is empty. ConfigError. */
  static async read(home: string): Promise<ConfigFile> {
    const file = join(home, CONFIG_FILE)
    const version = findCacheableVersion(file)
    const cached = filesRead.get(file)
    if (cached !== undefined && cached.version === version) return cached.file
    const read = await ConfigFile.parse(file, readIfPresent(file))
    filesRead.delete(file)
    if (version !== undefined && version === findCacheableVersion(file)) {
      filesRead.set(file, { version, file: read })
      const [oldest] = filesRead.keys()
      if (oldest !== undefined && filesRead.size > MAX_CACHED_FILES) filesRead.delete(oldest)
    }
    return read
  }

  static async parse(file: string, text: string): Promise<ConfigFile> {
    // Most homes have no settings, and need no parser.
    const values = text === '' ? {} : parseToml(file, text)
    const lines = scanKeyLines(text)
    return new ConfigFile(
      file,
      parsePlainConfig(values) ?? (await validateConfig(file, values, lines)),
      lines,
    )
  }

  /** Returns the line of a setting. */
  getLine(...keys: string[]): number {
    return this.#lines.getLine(keys)
  }
}

/** Reads the configuration of a home; empty if there is no file. ConfigError. */
export async function readConfig(home: string): Promise<Config> {
  return (await ConfigFile.read(home)).config
}

/** A setting that commands write. */
type PlainKey = 'vault' | 'engine' | 'durability'

/**
 * Sets or removes one key, and keeps the rest of the file, including comments. ConfigError if the file is invalid, or
 * if the key is written in a way that cannot be changed.
 */
export async function setConfig(home: string, key: PlainKey, value: string | undefined): Promise<void> {
  const file = join(home, CONFIG_FILE)
  const text = readIfPresent(file)
  const current = await ConfigFile.parse(file, text)
  const { [key]: _old, ...rest } = current.config
  const changed = setTopLevelValue(text, key, value)
  // The edit is textual, so the result must parse to exactly the intended configuration.
  if (!(await isExactConfig(file, changed, value === undefined ? rest : { ...rest, [key]: value }))) {
    const manualEdit = value === undefined ? `drop ${key}` : `set ${key} = "${value}"`
    const message = `cannot change this line; ${manualEdit} by hand`
    throw new ConfigError(file, [{ line: current.getLine(key), message }])
  }
  await replaceFileAtomically(file, changed)
}

/**
 * Parses a valid configuration with the common settings only; undefined otherwise. This saves most commands loading
 * the schema, which takes longer than they do.
 */
function parsePlainConfig({
  vault,
  engine,
  durability,
  ...others
}: Record<string, unknown>): Config | undefined {
  const [knownEngine, knownDurability] = [findMember(engines, engine), findMember(durabilities, durability)]
  const isKnown = knownEngine === engine && knownDurability === durability
  if (Object.keys(others).length > 0 || !isKnown) return undefined
  if (
    vault !== undefined &&
    (typeof vault !== 'string' || vault === '' || findReservedPurpose(vault) !== undefined)
  )
    return undefined
  return {
    ...(vault !== undefined && { vault }),
    ...(knownEngine !== undefined && { engine: knownEngine }),
    ...(knownDurability !== undefined && { durability: knownDurability }),
  }
}

function findMember<Value>(members: readonly Value[], value: unknown): Value | undefined {
  return members.find((candidate) => candidate === value)
}

/** Throws EINVAL for an invalid configuration that a program passes, by the rules for a file. */
export async function assertConfig(config: Config): Promise<void> {
  try {
    await validateConfig('config', config, scanKeyLines(''))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const detail = error.problems.map(({ message }) => message).join('; ')
    throw new VfsError('EINVAL', '/', { op: 'open', detail })
  }
}

async function validateConfig(file: string, values: unknown, lines: KeyLines): Promise<Config> {
  const [{ configSchema }, { formatProblems }] = await Promise.all([
    import('./config-schema.ts'),
    import('./config-problems.ts'),
  ])
  const result = configSchema.safeParse(values)
  if (result.success) return result.data
  throw new ConfigError(file, formatProblems(result.error.issues, values, lines))
}

function parseToml(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [problem = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    throw new ConfigError(file, [{ line: error.line, message: `not valid TOML: ${problem}` }])
  }
}

async function isExactConfig(file: string, text: string, expected: Config): Promise<boolean> {
  try {
    return isDeepStrictEqual((await ConfigFile.parse(file, text)).config, expected)
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}

/**
 * Returns a text that identifies the version of a file, missing ones included. Undefined if the file must not be
 * cached: it changed just now, or its stats cannot be read.
 */
function findCacheableVersion(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return 'absent'
    const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs } = found
    return Date.now() - Number(mtimeMs) < MIN_CACHED_AGE_MS
      ? undefined
      : [dev, ino, size, mtimeNs, ctimeNs].join(':')
  } catch {
    return undefined
  }
}

function readIfPresent(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return ''
    throw error
  }
}

/** Replaces a file atomically: a reader sees the old or the new one. */
async function replaceFileAtomically(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`
  makePrivateDirectory(dirname(file))
  try {
    makePrivateFile(temporary)
    await writeFile(temporary, text, { flush: true })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
