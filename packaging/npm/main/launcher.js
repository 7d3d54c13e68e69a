#!/usr/bin/env node
// Runs the workbench's program for this platform, as if it had been run itself: the same
// streams, signals and exit code, and it does not outlive this process.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const program = find();
const args = process.argv.slice(2);

// Where Node can become another program, there is nothing left to pass on.
if (typeof process.execve === "function" && process.platform !== "win32") {
  try {
    process.execve(program, [program, ...args], process.env);
  } catch (error) {
    fail(`cannot run ${program}: ${error.message}`);
  }
} else {
  run();
}

function find() {
  const name = `@mcp-workbench/${platform}`;
  const file = process.platform === "win32" ? "mcp-workbench.exe" : "mcp-workbench";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    const known = Object.keys(require("./package.json").optionalDependencies);
    if (!known.includes(name)) {
      fail(`there is no program for ${platform}; there is one for ${known.map((k) => k.split("/")[1]).join(", ")}.\n` +
        "Build it from source: https://github.com/mcp-workbench/mcp-workbench");
    }
    fail(`the package ${name}, which holds the program, is not installed.\n` +
      "Install again without --omit=optional or --no-optional, and on the platform where it runs.");
  }
}

function run() {
  // A signal that comes while the program starts must not end this process alone.
  let child;
  const pending = [];
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
    try {
      process.on(signal, () => (child ? child.kill(signal) : pending.push(signal)));
    } catch {
      // This platform does not have it.
    }
  }
  const watcher = watch();
  const started = spawn(program, args, { stdio: "inherit", windowsHide: true });
  if (watcher && started.pid) {
    watcher.stdin.write(`${started.pid}\n`);
  }
  started.on("spawn", () => {
    child = started;
    pending.forEach((signal) => child.kill(signal));
  });
  started.on("error", (error) => fail(`cannot run ${program}: ${error.message}`));
  started.on("exit", (code, signal) => {
    if (watcher) {
      watcher.stdin.end("ended\n");
    }
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
      // Where the signal is ignored, or takes its time.
      process.exitCode = 128 + (constants.signals[signal] || 0);
      return;
    }
    process.exitCode = code;
  });
}

// watch ends the program if this process is killed in a way that it cannot pass on. The watcher
// reads from a pipe that only this process holds: it is told which program it is, and ends with
// a further line, or with this process. It is there before the program, which may be the faster.
// On Windows the program is in a job of this process, and ends with it.
function watch() {
  if (process.platform === "win32") {
    return undefined;
  }
  const script = 'read -r pid || exit 0; read -r line || kill -TERM "$pid" 2>/dev/null';
  const watcher = spawn("/bin/sh", ["-c", script], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true, // a signal from the terminal is for the program
  });
  watcher.on("error", () => {});
  watcher.stdin.on("error", () => {});
  watcher.unref();
  return watcher;
}

function fail(message) {
  process.stderr.write(`mcp-workbench: ${message}\n`);
  process.exit(1);
}
