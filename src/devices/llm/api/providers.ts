import type { LanguageModel } from 'ai'
import type { Device } from '../../../kernel/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { type ApiOptions, apiDevice } from './api-device.ts'
import { installedSdk, type SdkPackages } from './sdk.ts'

export interface KeyedApiOptions extends ApiOptions {
  readonly apiKey: string | undefined
  readonly baseUrl?: string
}

export interface OpenaiCompatibleOptions extends ApiOptions {
  /** What the device is called: `ollama` is `/dev/llm/ollama`. */
  readonly name: string
  /** With its version: `http://localhost:11434/v1`. */
  readonly baseUrl: string
  /** A server of one's own needs none. */
  readonly apiKey?: string | undefined
}

const ANTHROPIC_URL = 'https://api.anthropic.com/v1'
const GOOGLE_URL = 'https://generativelanguage.googleapis.com/v1beta'

/** Models of Anthropic, at `/dev/llm/anthropic`. */
export function anthropicDevice({ apiKey, baseUrl = ANTHROPIC_URL, ...options }: KeyedApiOptions): Device {
  const path = '/dev/llm/anthropic'
  return apiDevice(path, options, async (model) => {
    // Everything is given: the package would look into the environment for what is not.
    const settings = { apiKey: requireKey(path, apiKey, 'ANTHROPIC_API_KEY'), baseURL: baseUrl }
    const { createAnthropic } = await getSdk(options).anthropic()
    return createAnthropic(settings)(model)
  })
}

/** Models of Google, at `/dev/llm/google`. */
export function googleDevice({ apiKey, baseUrl = GOOGLE_URL, ...options }: KeyedApiOptions): Device {
  const path = '/dev/llm/google'
  return apiDevice(path, options, async (model) => {
    const settings = { apiKey: requireKey(path, apiKey, 'GOOGLE_GENERATIVE_AI_API_KEY'), baseURL: baseUrl }
    const { createGoogleGenerativeAI } = await getSdk(options).google()
    return createGoogleGenerativeAI(settings)(model)
  })
}

/** Whatever speaks the protocol of OpenAI (Ollama, vLLM, …), at `/dev/llm/<name>`. */
export function openaiCompatibleDevice(options: OpenaiCompatibleOptions): Device {
  const { name, baseUrl: baseURL, apiKey } = options
  return apiDevice(`/dev/llm/${name}`, options, async (model): Promise<LanguageModel> => {
    const { createOpenAICompatible } = await getSdk(options).openaiCompatible()
    // Without being asked, such a server does not say what a stream has cost.
    return createOpenAICompatible({ name, baseURL, ...(apiKey && { apiKey }), includeUsage: true })(model)
  })
}

function getSdk({ sdk = installedSdk }: ApiOptions): SdkPackages {
  return sdk
}

function requireKey(path: string, key: string | undefined, name: string): string {
  if (key !== undefined && key !== '') return key
  const detail = `there is no API key; set ${name} and start the daemon anew (coppice daemon stop), or use another provider`
  throw new VfsError('EACCES', path, { op: 'write', detail })
}
