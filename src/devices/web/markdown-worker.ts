import { parentPort, workerData } from 'node:worker_threads'
import { type HtmlPage, toMarkdown } from './markdown.ts'

// An untrusted page may take unbounded time and memory to parse: it gets a thread that can be killed.
const { html, url }: HtmlPage = workerData
parentPort?.postMessage(toMarkdown({ html, url }))
