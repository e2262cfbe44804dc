import { VfsError } from '../../vfs/index.ts'

/** The classes of LangChain that tools are made of. */
export interface LangChain {
  readonly DynamicStructuredTool: typeof import('@langchain/core/tools').DynamicStructuredTool
  readonly ToolMessage: typeof import('@langchain/core/messages').ToolMessage
}

/** The package, when it is first needed: it is not ours to require. ENOTSUP with what to install where it is not. */
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
