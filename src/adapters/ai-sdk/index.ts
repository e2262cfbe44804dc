/**
 * The tools of an agent as the AI SDK takes them: a set for `generateText` and `streamText`.
 * No tool and no loop of its own: the registry has the tools, the SDK calls them.
 * Invariant: a failed call is a result the model reads; only an abort throws.
 */
export { type AiSdkTool, aiSdkTools } from './ai-sdk-tools.ts'
