import type { Tty } from '../devices/tty/index.ts'
import type { QuestionEvent } from './client/index.ts'

/** Yields the events of questions until the signal aborts. Processes can ask only meanwhile. */
export async function* streamQuestionEvents(tty: Tty, signal: AbortSignal): AsyncGenerator<QuestionEvent> {
  const waiting: QuestionEvent[] = []
  let wake = () => {}
  const queueEvent = (event: QuestionEvent) => {
    waiting.push(event)
    wake()
  }
  const detach = tty.attach({
    onAsked: (asked) => queueEvent({ asked }),
    onSettled: (settled) => queueEvent({ settled }),
  })
  const end = () => wake()
  signal.addEventListener('abort', end, { once: true })
  try {
    while (!signal.aborted) {
      yield* waiting.splice(0)
      if (waiting.length > 0 || signal.aborted) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    detach()
    signal.removeEventListener('abort', end)
  }
}
