import { VfsError } from '../../../vfs/index.ts'

/** The packages of the AI SDK, each loaded when it is first needed: none of them is ours to require. */
export interface SdkPackages {
  ai(): Promise<typeof import('ai')>
  anthropic(): Promise<typeof import('@ai-sdk/anthropic')>
  google(): Promise<typeof import('@ai-sdk/google')>
  openaiCompatible(): Promise<typeof import('@ai-sdk/openai-compatible')>
}

/** As they are installed beside us. ENOTSUP with what to install where one is not. */
export const installedSdk: SdkPackages = {
  ai: () => loadPackage('ai', () => import('ai')),
  anthropic: () => loadPackage('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic')),
  google: () => loadPackage('@ai-sdk/google', () => import('@ai-sdk/google')),
  openaiCompatible: () => loadPackage('@ai-sdk/openai-compatible', () => import('@ai-sdk/openai-compatible')),
}

/** ENOTSUP if it is not installed. */
export async function loadPackage<Package>(name: string, load: () => Promise<Package>): Promise<Package> {
  try {
    return await load()
  } catch (cause) {
    const install = name === 'ai' ? 'ai' : `ai ${name}`
    const detail = `the package '${name}' is needed: npm install ${install}`
    throw new VfsError('ENOTSUP', '/dev/llm', { op: 'load', detail, cause })
  }
}
