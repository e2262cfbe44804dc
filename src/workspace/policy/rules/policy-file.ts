import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { isErrno } from '../../../machine/index.ts'
import { type HostRule, parseHostRule } from '../../../network/index.ts'
import { isVfsError, VfsError } from '../../../vfs/index.ts'
import { type Category, categories } from '../category.ts'
import { type PolicyRule, type PolicyRules, type RuleAction, ruleActions } from './policy-rules.ts'
import { parseRuleLines, type RuleLines } from './rule-lines.ts'

/** Invalid entry of a policy. Lines count from 1. */
export interface PolicyProblem {
  readonly line: number
  readonly message: string
}

/** EINVAL for an invalid `policy.toml`: each problem with the file, the line, and the accepted values. */
export class PolicyFileError extends VfsError {
  readonly problems: readonly PolicyProblem[]

  constructor(file: string, problems: readonly PolicyProblem[]) {
    const sorted = [...problems].sort((one, other) => one.line - other.line)
    super('EINVAL', file, {
      detail: sorted.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'),
    })
    this.problems = sorted
  }
}

/** Policy, with the path of its file. */
export interface PolicyFile {
  readonly file: string
  readonly policy: PolicyRules
}

const POLICY_FILE = 'policy.toml'
const TABLES = ['defaults', 'network', 'rule']
const CONDITIONS = ['program', 'args', 'category', 'path'] as const
const KEYS: readonly string[] = ['action', ...CONDITIONS, 'reason']

/** Reads the `policy.toml` of a home; the defaults alone if there is no file. Throws PolicyFileError if it is invalid. */
export async function readPolicy(home: string): Promise<PolicyFile> {
  const file = join(home, POLICY_FILE)
  try {
    return { file, policy: parsePolicy(file, readFileSync(file, 'utf8')) }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
    return { file, policy: { rules: [] } }
  }
}

/** Parses the text of a `policy.toml`. Throws PolicyFileError with every problem in it; an unknown key is one. */
export function parsePolicy(file: string, text: string): PolicyRules {
  const reader = new PolicyReader(file, parseRuleLines(text))
  const policy = reader.read(parseToml(file, text))
  if (reader.problems.length > 0) throw new PolicyFileError(file, reader.problems)
  return policy
}

type Table = Readonly<Record<string, unknown>>

class PolicyReader {
  readonly problems: PolicyProblem[] = []
  readonly #file: string
  readonly #lines: RuleLines

  constructor(file: string, lines: RuleLines) {
    this.#file = file
    this.#lines = lines
  }

  read(values: Table): PolicyRules {
    for (const key of Object.keys(values)) {
      if (!TABLES.includes(key)) this.#addUnknownKey('', key, ['[defaults]', '[network]', '[[rule]]'])
    }
    const { defaults, network, rule = [] } = values
    const rules = Array.isArray(rule) ? rule : [rule]
    return {
      rules: rules.flatMap((rule: unknown, index) => this.#readRule(rule, index) ?? []),
      ...(defaults !== undefined && { defaults: this.#readDefaults(defaults) }),
      ...(network !== undefined && { hosts: this.#readHosts(network) }),
    }
  }

  #readHosts(values: unknown): HostRule[] {
    if (!isTable(values)) {
      this.#addProblem('', 'network', 'network must be a table: [network]')
      return []
    }
    for (const key of Object.keys(values)) if (key !== 'allow') this.#addUnknownKey('network', key, ['allow'])
    const { allow = [] } = values
    if (!Array.isArray(allow)) {
      this.#addProblem('network', 'allow', 'allow must be a list of hosts')
      return []
    }
    return allow.flatMap((host: unknown) => this.#readHost(host) ?? [])
  }

  #readHost(value: unknown): HostRule | undefined {
    try {
      return parseHostRule(String(value))
    } catch (error) {
      if (!isVfsError(error)) throw error
      this.#addProblem('network', 'allow', error.detail ?? error.message)
      return undefined
    }
  }

  #readDefaults(values: unknown): Partial<Record<Category, RuleAction>> {
    const read: Partial<Record<Category, RuleAction>> = {}
    if (!isTable(values)) this.#addProblem('', 'defaults', 'defaults must be a table of categories')
    else {
      for (const [key, value] of Object.entries(values)) {
        const category = findMember(categories, key)
        if (category === undefined) this.#addUnknownKey('defaults', key, categories)
        else read[category] = this.#readChoice('defaults', key, value, ruleActions) ?? 'deny'
      }
    }
    return read
  }

  #readRule(values: unknown, index: number): PolicyRule | undefined {
    if (!isTable(values)) {
      this.#addProblem(index, undefined, 'a rule must be a table: [[rule]]')
      return undefined
    }
    for (const key of Object.keys(values)) if (!KEYS.includes(key)) this.#addUnknownKey(index, key, KEYS)
    if (!CONDITIONS.some((key) => values[key] !== undefined)) {
      this.#addProblem(index, undefined, `a rule needs a condition: one of ${CONDITIONS.join(', ')}`)
    }
    const action = this.#readChoice(index, 'action', values['action'], ruleActions)
    const category =
      values['category'] === undefined
        ? undefined
        : this.#readChoice(index, 'category', values['category'], categories)
    if (action === undefined) return undefined
    const source = `${this.#file}:${this.#lines.findLine(index)}`
    return { action, ...(category !== undefined && { category }), ...this.#readTexts(values, index), source }
  }

  #readTexts(values: Table, index: number): Partial<PolicyRule> {
    const texts = (['program', 'args', 'path', 'reason'] as const).flatMap((key) => {
      const value = values[key]
      if (value === undefined) return []
      if (typeof value === 'string' && value !== '') return [[key, value] as const]
      this.#addProblem(index, key, `${key} must be a text, not ${JSON.stringify(value)}`)
      return []
    })
    return Object.fromEntries(texts)
  }

  #readChoice<Value extends string>(
    table: string | number,
    key: string,
    value: unknown,
    known: readonly Value[],
  ): Value | undefined {
    const chosen = findMember(known, value)
    if (chosen !== undefined) return chosen
    const problem = value === undefined ? 'is missing' : `cannot be ${JSON.stringify(value)}`
    this.#addProblem(table, key, `${key} ${problem}; use one of ${known.join(', ')}`)
    return undefined
  }

  #addUnknownKey(table: string | number, key: string, known: readonly string[]): void {
    this.#addProblem(table, key, `unknown key '${key}'; known: ${known.join(', ')}`)
  }

  #addProblem(table: string | number, key: string | undefined, message: string): void {
    this.problems.push({ line: this.#lines.findLine(table, key), message })
  }
}

function parseToml(file: string, text: string): Table {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [problem = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    throw new PolicyFileError(file, [{ line: error.line, message: `not valid TOML: ${problem}` }])
  }
}

function findMember<Value extends string>(known: readonly Value[], value: unknown): Value | undefined {
  return known.find((candidate) => candidate === value)
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
