import { z } from 'zod'
import type { ModelChoice } from '../kernel/index.ts'
import { isValidName } from './agent-name.ts'
import { isDevicePath } from './allowed-tools.ts'
import { createYamlError, parseYaml } from './yaml-file.ts'

/** Content of `agent.yaml`. */
export interface AgentManifest {
  readonly name?: string | undefined
  readonly description: string
  readonly models: {
    readonly provider?: string | undefined
    readonly preferred?: string | undefined
    /** Models to use, in order, after a transient failure. */
    readonly fallback: readonly ModelChoice[]
  }
  /** Limit in tokens; 0 for none. */
  readonly context_budget?: number | undefined
  readonly max_steps?: number | undefined
  readonly skills: readonly string[]
  readonly mcp: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly allowed_devices?: readonly string[] | undefined
  /** Tools in addition to the default ones, by name or device path. */
  readonly tools: readonly string[]
}

const name = z
  .string()
  .refine(isValidName, 'must be lower-case letters, digits and single hyphens in between, 64 at most')
const nonEmptyString = z.string().trim().min(1)
const TOOL_NAME = /^[\w.-]+$/
const tool = z
  .string()
  .refine(
    (text) => TOOL_NAME.test(text) || isDevicePath(text),
    'must be the name of a tool, such as web_fetch, or the path of a device, such as /dev/lsp',
  )

/** A model of a provider. A name alone is a model of the same provider. */
const modelChoice = z.union([
  nonEmptyString.transform((model): ModelChoice => ({ model })),
  z.strictObject({ provider: nonEmptyString.optional(), model: nonEmptyString.optional() }),
])
const fallback = z.union([z.array(modelChoice), modelChoice.transform((choice) => [choice])]).default([])

const manifestSchema = z.strictObject({
  name: name.optional(),
  description: z.string().trim().default(''),
  models: z
    .strictObject({ provider: nonEmptyString.optional(), preferred: nonEmptyString.optional(), fallback })
    .default({ fallback: [] }),
  context_budget: z.int().nonnegative().optional(),
  max_steps: z.int().positive().optional(),
  skills: z.array(name).default([]),
  mcp: z.record(name, z.record(z.string(), z.unknown())).default({}),
  allowed_devices: z
    .array(z.string().refine(isDevicePath, 'must be the path of a device, such as /dev/fs'))
    .optional(),
  tools: z.array(tool).default([]),
})

const agentKeys = Object.keys(manifestSchema.shape)

/** Parses an `agent.yaml`. Throws EINVAL with the line if it is invalid, or if its name is not that of its directory. */
export function parseAgent(text: string, path: string, directory: string): AgentManifest {
  const agent = parseYaml<AgentManifest>(text, manifestSchema, agentKeys, { path })
  if (agent.name === undefined || agent.name === directory) return agent
  const line = text.split('\n').findIndex((line) => line.startsWith('name')) + 1
  throw createYamlError(
    { path },
    line,
    `the name '${agent.name}' differs from the directory '${directory}'; make them equal`,
  )
}
