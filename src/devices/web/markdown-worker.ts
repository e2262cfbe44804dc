import { parentPort, workerData } from 'node:worker_threads'
import { type HtmlPage, toMarkdown } from './markdown.ts'

// A page of a stranger may take any time and any memory to read: it gets a thread that can be ended.
const { html, url }: HtmlPage = workerData
parentPort?.postMessage(toMarkdown({ html, url }))
