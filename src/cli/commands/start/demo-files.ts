/** The project of the demo: it adds up prices. One of its tests fails, and another one waits for a new program. */
export const demoProject: Readonly<Record<string, string>> = {
  '/README.md': '# Shop\n\nPrograms read a cart: a price on each line.\n',
  '/total.sh': "awk '{ sum += $1 } END { print sum }'\n",
  '/test.sh': `failed=0
check() { [ "$2" = "$3" ] || { echo "FAIL $1: wanted $2, got '$3'"; failed=1; }; }
check 'a full cart' 6 "$(printf '1\\n2\\n3\\n' | sh total.sh)"
check 'an empty cart' 0 "$(printf '' | sh total.sh)"
check 'a receipt' '2 items: 3' "$(printf '1\\n2\\n' | sh receipt.sh 2>&1)"
[ $failed = 0 ] && echo 'all tests pass'
exit $failed
`,
}

/** An agent of the demo, and the script that replaces its model. The run checks each expectation of the script. */
export interface DemoAgent {
  readonly name: string
  readonly description: string
  readonly intent: string
  readonly script: string
}

/** Lets every response of a script take this long, as that of a model does: a person then sees the processes at work. */
export function withResponseTime(script: string, responseMs: number): string {
  if (responseMs === 0) return script
  return script
    .replaceAll(/^ {2}delay_ms: .*\n/gm, '')
    .replaceAll(/^ {2}tokens: .*$/gm, `$&\n  delay_ms: ${responseMs}`)
}

const LEAD_INTENT = 'Repair the shop with helpers'
const CART_INTENT = 'Let an empty cart cost 0'
const RECEIPT_INTENT = 'Write receipt.sh'
const README = '# Shop\\n\\nPrograms read a cart: a price on each line.\\n'
const CART_LINE = '- sh total.sh: an empty cart costs 0\\n'
const RECEIPT_LINE = '- sh receipt.sh: a receipt\\n'

/** The lead and its two children share one script: each takes the entries of its intent. */
export const lead: DemoAgent = {
  name: 'lead',
  description: 'Plans, gives parts of the work to others, and puts their results together.',
  intent: LEAD_INTENT,
  script: `shared: true
script:
- expect: {intent: ${LEAD_INTENT}}
  say: {tool_call: {name: shell_exec, input: {command: sh test.sh}}}
  tokens: 210
- expect: {intent: ${LEAD_INTENT}, last_message_contains: [FAIL an empty cart, FAIL a receipt]}
  say:
    tool_calls:
      - {name: plan, input: {steps: [${CART_INTENT}, ${RECEIPT_INTENT}, merge both and test]}}
      - {name: write_file, input: {path: PLAN.md, content: "1. ${CART_INTENT}\\n2. ${RECEIPT_INTENT}\\nEach adds a line to README.md.\\n"}}
  tokens: 240
- expect: {intent: ${LEAD_INTENT}}
  say:
    tool_calls:
      - {name: spawn, input: {intent: ${CART_INTENT}, wait: false}}
      - {name: spawn, input: {intent: ${RECEIPT_INTENT}, wait: false}}
  tokens: 120
- expect: {intent: ${LEAD_INTENT}}
  say: {tool_calls: [{name: wait, input: {pid: 2}}, {name: wait, input: {pid: 3}}]}
  tokens: 40
- expect: {intent: ${LEAD_INTENT}}
  say: {tool_calls: [{name: merge, input: {pid: 2}}, {name: merge, input: {pid: 3}}]}
  tokens: 40
- expect: {intent: ${LEAD_INTENT}, last_message_contains: [ECONFLICT, README.md]}
  say:
    tool_calls:
      - {name: merge, input: {pid: 3, on_conflict: ours}}
      - {name: write_file, input: {path: README.md, content: "${README}${CART_LINE}${RECEIPT_LINE}"}}
  tokens: 160
- expect: {intent: ${LEAD_INTENT}}
  say: {tool_call: {name: shell_exec, input: {command: sh test.sh}}}
  tokens: 60
- expect: {intent: ${LEAD_INTENT}, last_message_contains: all tests pass}
  say: {tool_call: {name: complete, input: {result: "An empty cart costs 0, and there is a receipt"}}}
  tokens: 30
- expect: {intent: ${CART_INTENT}}
  say: {tool_call: {name: file_read, input: {path: PLAN.md}}}
  tokens: 90
  delay_ms: 300
- expect: {intent: ${CART_INTENT}, last_message_contains: 1. ${CART_INTENT}}
  say:
    tool_calls:
      - {name: write_file, input: {path: total.sh, content: "awk '{ sum += $1 } END { print sum + 0 }'\\n"}}
      - {name: write_file, input: {path: README.md, content: "${README}${CART_LINE}"}}
  tokens: 190
- expect: {intent: ${CART_INTENT}}
  say: total.sh prints 0 for an empty cart
  tokens: 20
- expect: {intent: ${RECEIPT_INTENT}}
  say: {tool_call: {name: file_read, input: {path: PLAN.md}}}
  tokens: 90
  delay_ms: 300
- expect: {intent: ${RECEIPT_INTENT}, last_message_contains: 2. ${RECEIPT_INTENT}}
  say:
    tool_calls:
      - {name: write_file, input: {path: receipt.sh, content: "awk '{ sum += $1 } END { print NR \\" items: \\" sum + 0 }'\\n"}}
      - {name: write_file, input: {path: README.md, content: "${README}${RECEIPT_LINE}"}}
  tokens: 190
- expect: {intent: ${RECEIPT_INTENT}}
  say: receipt.sh prints the number of items and their sum
  tokens: 20
`,
}

export const reviewer: DemoAgent = {
  name: 'reviewer',
  description: 'Reviews the work of others.',
  intent: 'Review the repair',
  script: `
- say: {tool_calls: [{name: file_read, input: {path: README.md}}, {name: file_glob, input: {pattern: "*.sh"}}]}
  tokens: 120
- expect: {contains: [an empty cart costs 0, receipt.sh]}
  say: {tool_call: {name: shell_exec, input: {command: sh test.sh}}}
  tokens: 90
- expect: {last_message_contains: all tests pass}
  say: {tool_call: {name: write_file, input: {path: REVIEW.md, content: "Both parts are there. All tests pass. Approved.\\n"}}}
  tokens: 110
- say: Approved
  tokens: 20
`,
}

/** The lead again from its second step, with another way to the same end. */
export const alternative: DemoAgent = {
  name: 'lead',
  description: lead.description,
  intent: 'Do it alone, without helpers',
  script: `
- expect: {last_message_contains: "Do it alone"}
  say:
    tool_calls:
      - {name: write_file, input: {path: total.sh, content: "awk 'BEGIN { sum = 0 } { sum += $1 } END { print sum }'\\n"}}
      - {name: write_file, input: {path: receipt.sh, content: "echo \\"$(tee /tmp/cart.$$ | wc -l) items: $(sh total.sh < /tmp/cart.$$)\\"\\n"}}
  tokens: 210
- say: {tool_call: {name: shell_exec, input: {command: sh test.sh}}}
  tokens: 60
- expect: {last_message_contains: all tests pass}
  say: Done alone
  tokens: 20
`,
}
