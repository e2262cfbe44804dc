import { VfsError } from '../../../vfs/index.ts'

/** Packages of the AI SDK, loaded on first use; all are optional dependencies. */
export interface SdkPackages {
  ai(): Promise<typeof import('ai')>
  anthropic(): Promise<typeof import('@ai-sdk/anthropic')>
  google(): Promise<typeof import('@ai-sdk/google')>
  openaiCompatible(): Promise<typeof import('@ai-sdk/openai-compatible')>
}

/** The installed packages. ENOTSUP names the package to install if one is missing. */
export const installedSdk: SdkPackages = {
  ai: () => loadPackage('ai', () => import('ai')),
  anthropic: () => loadPackage('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic')),
  google: () => loadPackage('@ai-sdk/google', () => import('@ai-sdk/google')),
  openaiCompatible: () => loadPackage('@ai-sdk/openai-compatible', () => import('@ai-sdk/openai-compatible')),
}

/** Loads an optional package. ENOTSUP if it is not installed. */
export async function loadPackage<Package>(name: string, load: () => Promise<Package>): Promise<Package> {
  try {
    return await load()
  } catch (cause) {
    const install = name === 'ai' ? 'ai' : `ai ${name}`
    const detail = `the package '${name}' is needed: npm install ${install}`
    throw new VfsError('ENOTSUP', '/dev/llm', { op: 'load', detail, cause })
  }
}
