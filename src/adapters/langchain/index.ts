/**
 * The tools of an agent as LangChain takes them: structured tools for `createAgent`, a graph or a model.
 * No tool and no loop of its own: the registry has the tools, the framework calls them.
 * Invariant: a failed call is a message of status `error` the model reads; only an abort throws.
 */
export { langchainTools } from './langchain-tools.ts'
