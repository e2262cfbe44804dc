import type { Answer } from '../engine.ts'
import { PageFault } from '../tree/node-cache.ts'

/** The answer of a local engine; a fault where the engine is a network away and the answer is still to come. */
export function settled<T>(answer: Answer<T>): T {
  if (!(answer instanceof Promise)) return answer
  throw new PageFault(answer.then(() => {}))
}
