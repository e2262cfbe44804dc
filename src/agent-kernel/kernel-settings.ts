import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Config, readConfig } from '../config/index.ts'
import { type DeviceOperation, operationDevice } from '../devices/operation/index.ts'
import type { Device, ProcessDefaults } from '../kernel/index.ts'
import { VfsError } from '../vfs/index.ts'

const DEFAULT_RETRY_MS = 10 * 60 * 1000
const DEFAULT_QUESTION_MS = 60 * 60 * 1000
/** Tools of a process without an agent. It finds the others by tool_search. */
const DEFAULT_TOOLS = [
  'file_read',
  'file_grep',
  'file_glob',
  'vfs_list',
  'write_file',
  'file_edit',
  'vfs_move',
  'shell_exec',
  'ask_user',
  'wait',
  'merge',
]

/** Additions to a kernel. A module that is named as an extension has one as its default export. */
export interface KernelExtension {
  /** Further devices by path, such as `/dev/tickets`. Throws EEXIST for the path of a built-in device. */
  readonly devices?: Readonly<Record<string, Device>>
  /** Further models by name: `acme` is the provider at `/dev/llm/acme`. */
  readonly providers?: Readonly<Record<string, Device>>
  /** Further tools by name, offered to every process from the beginning. */
  readonly tools?: Readonly<Record<string, DeviceOperation>>
}

const extensionKeys = ['devices', 'providers', 'tools'] as const

/** Settings of a kernel, from its options, the configuration of the home and its extensions. */
export interface KernelSettings {
  readonly defaults: Partial<ProcessDefaults> & Pick<ProcessDefaults, 'provider'>
  readonly questionMs: number
  /** Devices of the extensions by path: those of models and tools are among them. */
  readonly devices: readonly (readonly [path: string, device: Device])[]
}

/** Reads the settings and loads the extensions. Throws ConfigError or EINVAL if they are invalid. */
export async function readKernelSettings(
  directory: string,
  options: KernelExtension & { readonly defaults?: Partial<ProcessDefaults> },
): Promise<KernelSettings> {
  const { processes = {} } = await readConfig(directory)
  const modules = await Promise.all(
    (processes.extensions ?? []).map((path) => loadExtension(directory, path)),
  )
  const extensions = [options, ...modules]
  const added = extensions.flatMap(({ tools = {} }) => Object.keys(tools))
  return {
    defaults: {
      retryMs: DEFAULT_RETRY_MS,
      ...toDefaults(processes),
      tools: [...DEFAULT_TOOLS, ...added],
      provider: processes.provider ?? 'claude',
      ...options.defaults,
    },
    questionMs: toMs(processes.question_seconds) ?? DEFAULT_QUESTION_MS,
    devices: extensions.flatMap(listDevices),
  }
}

function toDefaults(settings: NonNullable<Config['processes']>): Partial<ProcessDefaults> {
  const { model, max_steps: maxSteps, budget: contextBudget } = settings
  const [timeoutMs, retryMs] = [toMs(settings.timeout_seconds), toMs(settings.retry_seconds)]
  return {
    ...(model !== undefined && { model }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(contextBudget !== undefined && { contextBudget }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retryMs !== undefined && { retryMs }),
  }
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}

function listDevices({ devices = {}, providers = {}, tools = {} }: KernelExtension): [string, Device][] {
  const models = Object.entries(providers).map(([name, device]): [string, Device] => [
    `/dev/llm/${name}`,
    device,
  ])
  const callable = Object.entries(tools).map(([name, operation]): [string, Device] => {
    const path = `/dev/tools/${name}`
    return [path, operationDevice(path, name, operation)]
  })
  return [...Object.entries(devices), ...models, ...callable]
}

async function loadExtension(directory: string, path: string): Promise<KernelExtension> {
  const file = resolve(directory, path)
  const loaded: unknown = await import(pathToFileURL(file).href).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw createExtensionError(file, `the extension cannot be loaded: ${reason}`, error)
  })
  const extension = typeof loaded === 'object' && loaded !== null && 'default' in loaded && loaded.default
  if (!isExtension(extension)) {
    throw createExtensionError(
      file,
      `an extension exports by default an object with ${extensionKeys.join(', ')}`,
    )
  }
  return extension
}

function isExtension(value: unknown): value is KernelExtension {
  if (typeof value !== 'object' || value === null) return false
  const known: readonly string[] = extensionKeys
  return Object.entries(value).every(
    ([key, part]) => known.includes(key) && typeof part === 'object' && part !== null,
  )
}

function createExtensionError(file: string, detail: string, cause?: unknown): VfsError {
  return new VfsError('EINVAL', file, { op: 'extension', detail, cause })
}
