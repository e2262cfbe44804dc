import { hash } from 'node:crypto'
import { z } from 'zod'
import { parseDeviceRequest } from '../operation/index.ts'

interface ServerTimeouts {
  /** Limit for connecting. */
  readonly connect_timeout_ms?: number | undefined
  /** Limit for a call. */
  readonly timeout_ms?: number | undefined
}

/** A server that is a local program. */
interface ProgramConfig extends ServerTimeouts {
  readonly command: string
  readonly args: string[]
  /** Added to the base environment. */
  readonly env: Record<string, string>
  readonly cwd?: string | undefined
}

/** A server at a URL for streamable HTTP. */
interface AddressConfig extends ServerTimeouts {
  readonly url: string
  readonly headers: Record<string, string>
}

/** A program or an address. */
export type ServerConfig = ProgramConfig | AddressConfig

const milliseconds = z.int().min(1, 'must be 1 or more').optional()
const timeoutFields = { connect_timeout_ms: milliseconds, timeout_ms: milliseconds }

/** Value of a variable. Node.js would refuse one with NUL, with the value in its message. */
const variable = z.string().refine((value) => !value.includes('\0'), 'must have no NUL character')

const programConfig: z.ZodType<ProgramConfig> = z.strictObject({
  command: z.string().min(1, 'must not be empty'),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), variable).default({}),
  cwd: z.string().optional(),
  ...timeoutFields,
})

const addressConfig: z.ZodType<AddressConfig> = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be a URL, such as https://example.com/mcp' }),
  headers: z.record(z.string(), z.string()).default({}),
  ...timeoutFields,
})

/** Parses a mount's configuration. EINVAL, which repeats no value: a misplaced one may be a secret. */
export function parseServerConfig(path: string, config: unknown): ServerConfig {
  const isAddress = typeof config === 'object' && config !== null && 'url' in config
  const schema: z.ZodType<ServerConfig> = isAddress ? addressConfig : programConfig
  return parseDeviceRequest(path, schema, config, { isSecret: true })
}

/**
 * Returns the identity of a server, the same in every process: its name, and its program or address. Another program
 * under an old name is another server.
 */
export function getServerIdentity(name: string, config: ServerConfig): string {
  const startedFrom = 'url' in config ? [config.url] : [config.command, ...config.args]
  return `${name}-${hash('sha256', JSON.stringify(startedFrom)).slice(0, 16)}`
}
