import { VfsError } from '../../vfs/index.ts'

/** LangChain classes that the tools need. */
export interface LangChain {
  readonly DynamicStructuredTool: typeof import('@langchain/core/tools').DynamicStructuredTool
  readonly ToolMessage: typeof import('@langchain/core/messages').ToolMessage
}

/** Loads the optional package on first use. ENOTSUP with the package to install. */
export async function loadLangChain(load: () => Promise<LangChain> = loadClasses): Promise<LangChain> {
  try {
    return await load()
  } catch (cause) {
    const detail = "the package '@langchain/core' is needed: npm install @langchain/core"
    throw new VfsError('ENOTSUP', '/', { op: 'load', detail, cause })
  }
}

async function loadClasses(): Promise<LangChain> {
  const [{ DynamicStructuredTool }, { ToolMessage }] = await Promise.all([
    import('@langchain/core/tools'),
    import('@langchain/core/messages'),
  ])
  return { DynamicStructuredTool, ToolMessage }
}
