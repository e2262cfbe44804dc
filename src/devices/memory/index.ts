/**
 * `/dev/memory`: notes of agents about a project, about everything and about the person they work for, and recall.
 * Stored as Markdown that a person can read and edit; text from a tool or a page carries its origin.
 * Invariant: a scope stores nothing that the scanner refuses, nor more than its limit; recall changes nothing.
 */
export { type MemoryDeviceOptions, memoryDevices } from './memory-devices.ts'
export type { MemoryPassage } from './memory-recall.ts'
export { formatMemory, parseMemory } from './memory-text.ts'
export { listStepPassages } from './step-passages.ts'
