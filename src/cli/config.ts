import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, TomlError } from 'smol-toml'

const CONFIG_FILE = 'config.toml'

/** The engines a home of this machine can have; the first is taken when none is named. */
export const engines = ['sqlite', 'lmdb', 'level'] as const
export type EngineName = (typeof engines)[number]

const durabilities = ['full', 'process', 'relaxed'] as const

/** What `config.toml` of a home may say. */
export interface Config {
  /** The vault that commands work on when none is named. */
  readonly vault?: string
  readonly engine?: EngineName
  readonly durability?: (typeof durabilities)[number]
}

const keys: readonly (keyof Config)[] = ['vault', 'engine', 'durability']

/** Something in a `config.toml` that cannot be taken: with the file, the line, and what is known there. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(file: string, line: number, problem: string) {
    super(`${file}:${line}: ${problem}`)
  }
}

/** The configuration of a home; empty when there is no file. ConfigError. */
export async function readConfig(home: string): Promise<Config> {
  const file = join(home, CONFIG_FILE)
  return checkConfig(file, await readIfPresent(file))
}

/** Sets one key, or drops it, and leaves the rest of the file, comments included, as it is. ConfigError. */
export async function setConfig(home: string, key: keyof Config, value: string | undefined): Promise<void> {
  const file = join(home, CONFIG_FILE)
  const text = await readIfPresent(file)
  const changed = withValue(text, key, value)
  // The line was found by its looks: what came of it must say what was meant, and nothing else.
  if (!saysExactly(file, changed, { ...checkConfig(file, text), [key]: value })) {
    const wish = value === undefined ? `drop ${key}` : `set ${key} = "${value}"`
    throw new ConfigError(file, lineOf(text, key), `cannot change this line; ${wish} by hand`)
  }
  await replaceFile(file, changed)
}

function checkConfig(file: string, text: string): Config {
  const values = parseToml(file, text)
  for (const key of Object.keys(values)) {
    if (keys.some((known) => known === key)) continue
    throw new ConfigError(file, lineOf(text, key), `there is no setting '${key}'; known: ${keys.join(', ')}`)
  }
  const read = <Value>(key: keyof Config, accepts: (value: unknown) => Value | undefined, wanted: string) => {
    if (values[key] === undefined) return undefined
    const value = accepts(values[key])
    if (value !== undefined) return value
    const problem = `${key} is ${wanted}, not ${JSON.stringify(values[key])}`
    throw new ConfigError(file, lineOf(text, key), problem)
  }
  const oneOf = <Value>(known: readonly Value[]) =>
    [(value: unknown) => known.find((one) => one === value), `one of ${known.join(', ')}`] as const
  const vault = read('vault', (value) => (typeof value === 'string' ? value : undefined), 'a name in quotes')
  const engine = read('engine', ...oneOf(engines))
  const durability = read('durability', ...oneOf(durabilities))
  return {
    ...(vault !== undefined && { vault }),
    ...(engine !== undefined && { engine }),
    ...(durability !== undefined && { durability }),
  }
}

function parseToml(file: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [problem = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    throw new ConfigError(file, error.line, `not valid TOML: ${problem}`)
  }
}

/** The line that sets a key or opens its table, as far as its looks tell. */
function keyPattern(key: string): RegExp {
  const literal = key.replaceAll(/[^\w-]/g, '\\$&')
  return new RegExp(`^\\s*\\[*\\s*(?:${literal}|"${literal}"|'${literal}')\\s*(?:[.=\\]]|$)`)
}

function lineOf(text: string, key: string): number {
  const pattern = keyPattern(key)
  return (
    Math.max(
      0,
      text.split('\n').findIndex((line) => pattern.test(line)),
    ) + 1
  )
}

function withValue(text: string, key: string, value: string | undefined): string {
  const setting = `(\\s*(?:${key}|"${key}"|'${key}')\\s*=\\s*)(?:"[^"]*"|'[^']*')`
  if (value === undefined) return text.replace(new RegExp(`^${setting}.*(?:\\n|$)`, 'm'), '')
  const line = new RegExp(`^${setting}`, 'm')
  const written = JSON.stringify(value)
  if (line.test(text)) return text.replace(line, (_match, start: string) => start + written)
  const gap = text === '' || text.endsWith('\n') ? '' : '\n'
  return `${text}${gap}${key} = ${written}\n`
}

function saysExactly(
  file: string,
  text: string,
  wanted: Readonly<Record<string, string | undefined>>,
): boolean {
  try {
    const config = checkConfig(file, text)
    return keys.every((key) => config[key] === wanted[key])
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
  await mkdir(join(file, '..'), { recursive: true })
  try {
    await writeFile(temporary, text, { flush: true })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
