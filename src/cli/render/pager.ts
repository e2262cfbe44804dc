import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Output } from '../framework/output.ts'
import type { Terminal } from '../framework/terminal.ts'

/** Shows the output of `render` page by page on an interactive terminal, and unchanged elsewhere. */
export async function withPager(
  terminal: Terminal,
  render: (output: Output) => Promise<void>,
): Promise<void> {
  const pager = process.env['PAGER'] ?? 'less'
  if (!terminal.isInteractive || pager === '' || pager === 'cat') {
    await renderUnpaged(terminal, render)
    return
  }
  // F: no pager if all fits on the screen. R: colours stay. X: the text stays on the screen afterwards.
  const env = { LESS: 'FRX', ...process.env }
  const child = spawn(pager, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env })
  const quit = new AbortController()
  const closed = once(child, 'close').finally(() => quit.abort())
  // The reader may quit before the end.
  child.stdin.on('error', () => quit.abort())
  try {
    const signal = AbortSignal.any([terminal.signal, quit.signal])
    await renderUnpaged({ ...terminal, out: child.stdin, signal }, render)
  } catch (error) {
    if (!quit.signal.aborted) throw error
  } finally {
    child.stdin.end()
    await closed
  }
}

async function renderUnpaged(terminal: Terminal, render: (output: Output) => Promise<void>): Promise<void> {
  const output = new Output(terminal, false)
  await render(output)
  await output.flush()
}
