/** The project of the demo: it adds up prices, and one of its tests fails. */
export const demoProject: Readonly<Record<string, string>> = {
  '/README.md': '# Shop\n\nAdds up the prices in a cart, one on each line: sh total.sh < cart\n',
  '/total.sh': "awk '{ sum += $1 } END { print sum }'\n",
  '/test.sh': `failed=0
check() { [ "$2" = "$3" ] || { echo "FAIL $1: wanted $2, got '$3'"; failed=1; }; }
check 'a full cart' 6 "$(printf '1\\n2\\n3\\n' | sh total.sh)"
check 'an empty cart' 0 "$(printf '' | sh total.sh)"
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

export const planner: DemoAgent = {
  name: 'planner',
  description: 'Finds the problem and turns it into tasks.',
  intent: 'Find out what is wrong with the shop, and plan the repair',
  script: `
- say: {action: tool_call, tool: /dev/shell, input: {command: sh test.sh}}
  tokens: 210
- expect: {last_message_contains: ['"exit_code":1', 'FAIL an empty cart']}
  say: {action: tool_call, tool: task_create, input: {subject: Let an empty cart cost 0}}
  tokens: 240
- say: {action: tool_call, tool: task_create, input: {subject: Review the repair}}
  tokens: 60
- expect: {last_message_contains: '"id":"2"'}
  say: {action: tool_call, tool: task_update, input: {id: "2", dependencies: ["1"]}}
  tokens: 60
- say:
    action: tool_call
    tool: /shared/plan.md
    input: "total.sh prints nothing for an empty cart.\\n1. coder: let it print 0\\n2. reviewer: run the tests, look at the change\\n"
  tokens: 180
- say: {action: complete, result: Two tasks and /shared/plan.md}
  tokens: 40
`,
}

export const coder: DemoAgent = {
  name: 'coder',
  description: 'Does the next task.',
  intent: 'Do what the plan says for you',
  script: `
- say: {action: tool_call, tool: /shared/plan.md}
  tokens: 150
  delay_ms: 400
- expect: {last_message_contains: '1. coder: let it print 0'}
  say: {action: tool_call, tool: task_update, input: {id: "1", status: in_progress, owner: coder}}
  tokens: 70
- say: {action: tool_call, tool: /dev/fs/total.sh, input: {content: "awk '{ sum += $1 } END { print sum + 0 }'\\n"}}
  tokens: 190
- say: {action: tool_call, tool: /dev/shell, input: {command: sh test.sh}}
  tokens: 60
- expect: {last_message_contains: ['"exit_code":0', 'all tests pass']}
  say: {action: tool_call, tool: task_update, input: {id: "1", status: completed}}
  tokens: 60
- say: {action: complete, result: An empty cart costs 0 now}
  tokens: 30
`,
}

export const reviewer: DemoAgent = {
  name: 'reviewer',
  description: 'Reviews the work of another agent.',
  intent: 'Review the repair',
  script: `
- say: {action: tool_call, tool: task_list, input: {}}
  tokens: 120
- expect: {last_message_contains: ['"status":"completed"', '"blocked_by":[]']}
  say: {action: tool_call, tool: task_update, input: {id: "2", status: in_progress, owner: reviewer}}
  tokens: 60
- say: {action: tool_call, tool: /dev/fs/total.sh}
  tokens: 90
- expect: {last_message_contains: sum + 0}
  say: {action: tool_call, tool: /dev/shell, input: {command: sh test.sh}}
  tokens: 90
- expect: {last_message_contains: all tests pass}
  say: {action: tool_call, tool: /dev/fs/REVIEW.md, input: {content: "total.sh: an empty cart costs 0. All tests pass. Approved.\\n"}}
  tokens: 110
- say: {action: tool_call, tool: task_update, input: {id: "2", status: completed}}
  tokens: 60
- say: {action: complete, result: Approved}
  tokens: 20
`,
}
