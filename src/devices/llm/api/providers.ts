import type { LanguageModel } from 'ai'
import type { Device } from '../../../kernel/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { type ApiOptions, apiDevice } from './api-device.ts'
import { installedSdk, type SdkPackages } from './sdk.ts'
import { createStreamFetch } from './stream-fetch.ts'

/** Options of a model behind an API that takes a key. */
export interface KeyedApiOptions extends ApiOptions {
  readonly apiKey: string | undefined
  readonly baseUrl?: string
}

/** Options of `openaiCompatibleDevice`. */
export interface OpenaiCompatibleOptions extends ApiOptions {
  /** Name of the device: `ollama` is `/dev/llm/ollama`. */
  readonly name: string
  /** URL with its version: `http://localhost:11434/v1`. */
  readonly baseUrl: string
  /** API key; a self-hosted server needs none. */
  readonly apiKey?: string | undefined
}

const ANTHROPIC_URL = 'https://api.anthropic.com/v1'
const GOOGLE_URL = 'https://generativelanguage.googleapis.com/v1beta'

/** Creates the device for Anthropic models, at `/dev/llm/anthropic`. */
export function anthropicDevice({ apiKey, baseUrl = ANTHROPIC_URL, ...options }: KeyedApiOptions): Device {
  const path = '/dev/llm/anthropic'
  return apiDevice(path, options, async (model) => {
    // Every setting is passed: the package would read missing ones from the environment.
    const settings = { apiKey: requireKey(path, apiKey, 'ANTHROPIC_API_KEY'), baseURL: baseUrl }
    const { createAnthropic } = await getSdk(options).anthropic()
    return createAnthropic({ ...settings, fetch: createStreamFetch(path) })(model)
  })
}

/** Creates the device for Google models, at `/dev/llm/google`. */
export function googleDevice({ apiKey, baseUrl = GOOGLE_URL, ...options }: KeyedApiOptions): Device {
  const path = '/dev/llm/google'
  return apiDevice(path, options, async (model) => {
    const settings = { apiKey: requireKey(path, apiKey, 'GOOGLE_GENERATIVE_AI_API_KEY'), baseURL: baseUrl }
    const { createGoogleGenerativeAI } = await getSdk(options).google()
    return createGoogleGenerativeAI({ ...settings, fetch: createStreamFetch(path) })(model)
  })
}

/** Creates a device for a server with OpenAI's protocol (Ollama, vLLM, …), at `/dev/llm/<name>`. */
export function openaiCompatibleDevice(options: OpenaiCompatibleOptions): Device {
  const { name, baseUrl: baseURL, apiKey } = options
  const path = `/dev/llm/${name}`
  return apiDevice(path, options, async (model): Promise<LanguageModel> => {
    const { createOpenAICompatible } = await getSdk(options).openaiCompatible()
    const settings = { name, baseURL, ...(apiKey && { apiKey }), fetch: createStreamFetch(path) }
    // Such a server reports the token usage of a stream only on request.
    return createOpenAICompatible({ ...settings, includeUsage: true })(model)
  })
}

function getSdk({ sdk = installedSdk }: ApiOptions): SdkPackages {
  return sdk
}

function requireKey(path: string, key: string | undefined, name: string): string {
  if (key !== undefined && key !== '') return key
  const detail = `there is no API key; set ${name} and restart the daemon (coppice daemon stop), or use another provider`
  throw new VfsError('EACCES', path, { op: 'write', detail })
}
