// The types of what a workbench tells the page. They mirror the Go types of internal/sharing/control and
// internal/observe, which are the contract. Rows that the store keeps have `workbench` beside them: the pid of the
// workbench that they are of. (A server has a pid of its own.)

/**
 * @typedef {object} Workbench
 * @property {number} pid
 * @property {string} version
 * @property {"stdio"|"http"|"shared"} serving
 * @property {string} config path of the file; "" for the built-in default
 * @property {string} [project]
 * @property {string} folder
 * @property {string} [notice] why files are not used
 * @property {string} [problem] why the files as they are now are not in use
 * @property {string} [audit]
 * @property {string} started
 * @property {string} [loaded]
 * @property {number} [memoryBytes]
 * @property {Server[]} [servers]
 * @property {Client[]} [clients]
 * @property {(Counts & {toolbox: string, server: string})[]} [activity]
 */

/**
 * @typedef {object} Server
 * @property {string} key TOOLBOX/SERVER, for further copies with #2, #3, …
 * @property {string} toolbox
 * @property {string} server
 * @property {"faulty"|"idle"|"starting"|"ready"|"backing off"|"login needed"|"stopping"} state
 * @property {number} [pid] of its process
 * @property {number} [memoryBytes]
 * @property {number} [cpuPercent] of one processor; unknown if the memory is
 * @property {number} [uptimeSeconds]
 * @property {boolean} [remote]
 * @property {number} requests
 * @property {number} starts
 * @property {number} restarts
 * @property {number} [failures]
 * @property {number} tools
 * @property {string} [revision]
 * @property {string} [lastError]
 * @property {string} [failingSince]
 * @property {number} [nextTrySeconds]
 * @property {number} clients
 * @property {Why} [why]
 */

/**
 * @typedef {object} Why why a server is a separate copy
 * @property {string} [folder]
 * @property {string[]} [roots]
 * @property {string[]} [capabilities]
 * @property {string[]} [environment]
 * @property {string} [command]
 * @property {string} [era]
 * @property {number} [behind]
 * @property {string} [client]
 * @property {string} [person]
 */

/**
 * @typedef {object} Counts of the last five minutes; totals since the start
 * @property {number} calls
 * @property {number} errors
 * @property {number} p50Seconds
 * @property {number} p95Seconds
 * @property {number} totalCalls
 * @property {number} totalErrors
 * @property {number} totalSeconds
 */

/**
 * @typedef {object} CallRecord a call that ended
 * @property {number} pid of the workbench
 * @property {number} seq
 * @property {number} [lost]
 * @property {string} time when it began
 * @property {string} [client]
 * @property {string} [caller]
 * @property {string} toolbox
 * @property {string} server
 * @property {string} method
 * @property {string} [tool]
 * @property {string} [prompt]
 * @property {"ok"|"tool error"|"JSON-RPC error"|"failed"|"refused"|"cancelled"|"input required"} outcome
 * @property {string} [error_type]
 * @property {number} took_seconds
 * @property {number} workbench_seconds
 * @property {number} start_seconds
 * @property {number} server_seconds
 * @property {number} waited_seconds
 * @property {number} request_bytes
 * @property {number} response_bytes
 * @property {string} [arguments] their shape
 */

/**
 * @typedef {object} RunningCall
 * @property {string} id
 * @property {string} since
 * @property {string} [client]
 * @property {string} [caller]
 * @property {string} toolbox
 * @property {string} server
 * @property {string} method
 * @property {string} [tool]
 * @property {"start"|"server"|"person"|""} [phase]
 */

/**
 * @typedef {object} Client
 * @property {string} id
 * @property {string} name
 * @property {string} [version]
 * @property {string} [folder]
 * @property {string} [token]
 * @property {string} since
 * @property {string} [era]
 * @property {string[]} opened
 */

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {"approval"|"elicitation"} [kind]
 * @property {string} tool TOOLBOX/SERVER/TOOL
 * @property {string} caller
 * @property {string} [client]
 * @property {string} [arguments]
 * @property {string} [rule]
 * @property {string} [because]
 * @property {string} since
 * @property {string} deadline
 * @property {string} [message]
 * @property {object} [schema]
 * @property {string} [url]
 * @property {string} [server]
 * @property {string[]} [via] "terminal", "page": where it may be answered
 */

/**
 * @typedef {object} ServerDetail a Server, and
 * @property {string} [software]
 * @property {{name: string, state: string, detail?: string, tookSeconds: number}[]} steps
 * @property {{pid: number, parent: number, name: string, memoryBytes: number}[]} processes
 * @property {string} [command]
 * @property {string} [config]
 */

/**
 * @typedef {object} Recording
 * @property {string} name
 * @property {string} path
 * @property {string} toolbox
 * @property {string} server
 * @property {string} at
 * @property {string} [until]
 * @property {boolean} [running]
 * @property {number} messages
 * @property {number} bytes
 */

/**
 * @typedef {object} WatchEvent only the members are set that changed
 * @property {Workbench} [state]
 * @property {Server[]} [servers]
 * @property {string[]} [removed]
 * @property {{at: string, memoryBytes: number, servers: (Counts & {key: string, memoryBytes: number, cpuPercent?: number})[]}} [counters]
 * @property {{calls: CallRecord[], skipped?: number}} [calls]
 * @property {{calls: RunningCall[], more?: number}} [running]
 * @property {Question[]} [questions]
 * @property {Client[]} [clients]
 * @property {number} [changes]
 * @property {Recording[]} [recordings]
 */

/**
 * @typedef {object} WatchLine a line without members only keeps the connection alive
 * @property {number} [pid] of the workbench that the line is about
 * @property {WatchEvent} [event]
 * @property {boolean} [full] the event replaces all that is known of the workbench
 * @property {boolean} [gone] the workbench ended
 * @property {number[]} [pids] all workbenches that run; others are gone
 */
/** @typedef {Server & {id: string, workbench: number, counts: Counts, rate: import('./persecond.js').PerSecond, since: number, tryAt: number}} ServerRow */
export {};
