import { startThread } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { HtmlPage, MarkdownPage } from './markdown.ts'

/** Memory limit of the thread that parses a page. */
const MAX_MEGABYTES = 512

/** Converts an HTML page to Markdown in a thread, which the signal terminates. EIO if it fails. */
export function readPage(page: HtmlPage, signal: AbortSignal): Promise<MarkdownPage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = startThread(import.meta.url, 'markdown-worker', {
      workerData: page,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    })
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
    worker.once('message', resolve)
    worker.once('error', (cause) => reject(createPageError(page.url, cause)))
    worker.once('exit', () => reject(createPageError(page.url, new Error('the converter ended early'))))
    const cleanUp = () => {
      signal.removeEventListener('abort', stop)
      void worker.terminate()
    }
    worker.once('message', cleanUp)
    worker.once('error', cleanUp)
    signal.addEventListener('abort', cleanUp, { once: true })
  })
}

function createPageError(url: string, cause: unknown): VfsError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new VfsError('EIO', url, { op: 'fetch', detail: `the page cannot be read (${reason})`, cause })
}
