/**
 * The entry point of a subject's process: loads the module named by the first argument, lets it measure itself once,
 * and sends every measurement to the parent as soon as it is known.
 */
import type { SubjectModule } from './benchmark.ts'
import { TimingRecorder } from './recorder.ts'

const [moduleUrl] = process.argv.slice(2)
if (moduleUrl === undefined) throw new Error('usage: child.ts <url of the subject module>')

const subject = await loadSubject(moduleUrl)
await subject.measure(new TimingRecorder((message) => process.send?.(message)))
process.disconnect?.()

async function loadSubject(url: string): Promise<SubjectModule> {
  const loaded: unknown = await import(url)
  if (isSubjectModule(loaded)) return loaded
  throw new Error(`${url} does not export a function 'measure'`)
}

function isSubjectModule(loaded: unknown): loaded is SubjectModule {
  return (
    typeof loaded === 'object' &&
    loaded !== null &&
    'measure' in loaded &&
    typeof loaded.measure === 'function'
  )
}
