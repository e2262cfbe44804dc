import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError } from 'smol-toml'
import { makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { type Config, durabilities, engines } from './config.ts'
import { ConfigError } from './config-error.ts'
import { keptFor } from './kept-vaults.ts'
import { type KeyLines, keyLines } from './key-lines.ts'
import { withValue } from './with-value.ts'

const CONFIG_FILE = 'config.toml'

/** A home's configuration as it was read: what it says, and where it says it. */
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
    return ConfigFile.of(file, await readIfPresent(file))
  }

  static async of(file: string, text: string): Promise<ConfigFile> {
    const values = parseToml(file, text)
    const lines = keyLines(text)
    return new ConfigFile(file, plainConfig(values) ?? (await checked(file, values, lines)), lines)
  }

  /** The line a setting stands on. */
  lineOf(...keys: string[]): number {
    return this.#lines.lineOf(keys)
  }
}

/** The configuration of a home; empty when there is no file. ConfigError. */
export async function readConfig(home: string): Promise<Config> {
  return (await ConfigFile.read(home)).config
}

/** A setting that commands write. */
type PlainKey = 'vault' | 'engine' | 'durability'

/** Sets one key, or drops it, and leaves the rest of the file, comments included, as it is. ConfigError. */
export async function setConfig(home: string, key: PlainKey, value: string | undefined): Promise<void> {
  const file = join(home, CONFIG_FILE)
  const text = await readIfPresent(file)
  const current = await ConfigFile.of(file, text)
  const { [key]: _old, ...rest } = current.config
  const changed = withValue(text, key, value)
  // The line was found by its looks: what came of it must say what was meant, and nothing else.
  if (!(await saysExactly(file, changed, value === undefined ? rest : { ...rest, [key]: value }))) {
    const wish = value === undefined ? `drop ${key}` : `set ${key} = "${value}"`
    const message = `cannot change this line; ${wish} by hand`
    throw new ConfigError(file, [{ line: current.lineOf(key), message }])
  }
  await replaceFile(file, changed)
}

/**
 * The configuration if it says no more than most do, and nothing wrong.
 * It spares most commands the schema, which takes longer to load than they take.
 */
function plainConfig({ vault, engine, durability, ...others }: Record<string, unknown>): Config | undefined {
  const [knownEngine, knownDurability] = [memberOf(engines, engine), memberOf(durabilities, durability)]
  const isKnown = knownEngine === engine && knownDurability === durability
  if (Object.keys(others).length > 0 || !isKnown) return undefined
  if (vault !== undefined && (typeof vault !== 'string' || vault === '' || keptFor(vault) !== undefined))
    return undefined
  return {
    ...(vault !== undefined && { vault }),
    ...(knownEngine !== undefined && { engine: knownEngine }),
    ...(knownDurability !== undefined && { durability: knownDurability }),
  }
}

function memberOf<Value>(known: readonly Value[], value: unknown): Value | undefined {
  return known.find((one) => one === value)
}

/** Refuses a configuration that a program made, for what a file would be refused for. EINVAL. */
export async function assertConfig(config: Config): Promise<void> {
  try {
    await checked('config', config, keyLines(''))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const detail = error.problems.map(({ message }) => message).join('; ')
    throw new VfsError('EINVAL', '/', { op: 'open', detail })
  }
}

async function checked(file: string, values: unknown, lines: KeyLines): Promise<Config> {
  const [{ configSchema }, { problemsOf }] = await Promise.all([
    import('./schema.ts'),
    import('./problems.ts'),
  ])
  const result = configSchema.safeParse(values)
  if (result.success) return result.data
  throw new ConfigError(file, problemsOf(result.error.issues, values, lines))
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

async function saysExactly(file: string, text: string, wanted: Config): Promise<boolean> {
  try {
    return isDeepStrictEqual((await ConfigFile.of(file, text)).config, wanted)
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}

async function readIfPresent(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

/** Whole or not at all: a reader sees the old file or the new one. */
async function replaceFile(file: string, text: string): Promise<void> {
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
