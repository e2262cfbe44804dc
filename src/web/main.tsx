/**
 * The page of `coppice ui`: a router, a client of the HTTP API, shared parts, and a folder for each screen.
 * It runs in a browser and knows the types of `web-api` and nothing else of ours.
 * Invariant: names, contents and words of models become text nodes; no HTML is ever made from a string.
 */
import { render } from 'preact'
import { App } from './app.tsx'
import { startHome } from './client/home-state.ts'
import { openSession, session } from './client/session.ts'
import { startKeyboard } from './parts/keyboard.ts'
import { startRouter } from './router.ts'
import { loadCurrentScreen } from './screen.tsx'

const element = document.getElementById('app')
if (element === null) throw new Error("the page has no element 'app'")
startRouter()
void loadCurrentScreen()
await openSession()
startKeyboard()
if (session.value.state === 'open') void startHome()
render(<App />, element)
