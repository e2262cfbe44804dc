/**
 * `/dev/memory`: what agents are to remember, of a project, of everything and of the person they work for, and recall.
 * Kept as Markdown that a person can read and edit; what came from a tool or a page carries its origin.
 * Invariant: nothing is kept that the scanner objects to, nor more than a scope holds; recall changes nothing.
 */
export { type MemoryDeviceOptions, memoryDevices } from './memory-devices.ts'
export type { MemoryPassage } from './memory-recall.ts'
export { formatMemory, parseMemory } from './memory-text.ts'
export { listStepPassages } from './step-passages.ts'
